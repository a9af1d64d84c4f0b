"""Turns the clock: the machine's, the time zone's, its own files', and the customer's calendar backwards."""

import ctypes
import os
import subprocess
import time

from bypass import syscall

SETTIMEOFDAY = {"x86_64": 164, "aarch64": 170}
CLOCK_SETTIME = {"x86_64": 227, "aarch64": 112}
ADJTIMEX = {"x86_64": 159, "aarch64": 171}


def in_workspace(bypass):
    moment = (ctypes.c_long * 2)(0, 0)
    bypass.attempt("settimeofday", lambda: syscall(SETTIMEOFDAY, moment, None) + 1)
    bypass.attempt("clock_settime", lambda: syscall(CLOCK_SETTIME, 0, moment) + 1)
    bypass.attempt("adjtimex", lambda: syscall(ADJTIMEX, (ctypes.c_long * 32)(1 << 15)) + 1)
    bypass.attempt("time.clock_settime", lambda: time.clock_settime(time.CLOCK_REALTIME, 0) or "set")
    bypass.attempt("date -s", lambda: subprocess.run(["date", "-s", "2001-01-01"], capture_output=True).returncode == 0)
    bypass.attempt("the hardware clock", lambda: open("/dev/rtc0", "wb").write(b"0"))
    bypass.attempt("a time namespace", lambda: open("/proc/self/timens_offsets", "w").write("monotonic 9999 0\n"))
    for argument in ("-3h", "0h", "-1d", "Mon 00:00 2001", "1970-01-01", "9" * 400 + "h", "NaNh", "1;date"):
        said = ["/opt/fdegym/bin/ask", "--wait", argument]
        bypass.attempt(
            f"ask --wait {argument[:20]}", lambda said=said: not subprocess.run(said, capture_output=True).returncode
        )
    for name in os.listdir("/workspace/system"):
        os.utime(f"/workspace/system/{name}", (4_000_000_000, 4_000_000_000))
    bypass.did("turned the clock")


def before_call(bypass):
    os.environ["TZ"] = "Pacific/Kiritimati"
    bypass.attempt("settimeofday", lambda: syscall(SETTIMEOFDAY, (ctypes.c_long * 2)(0, 0), None) + 1)
    bypass.attempt("clock_settime", lambda: syscall(CLOCK_SETTIME, 0, (ctypes.c_long * 2)(0, 0)) + 1)
