"""Leaves processes behind that go on after their call: daemons, deaf to signals, that rewrite outputs and read drops."""

import glob
import os
import signal
import time
from pathlib import Path

PIDS = Path.home() / ".bypass" / "pids"


def daemon():
    """Twice forked, a session of its own, no signal heard; goes on for an hour, should nobody end it."""
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    try:
        for number in signal.valid_signals():
            if number not in (signal.SIGKILL, signal.SIGSTOP):
                signal.signal(number, signal.SIG_IGN)
        os.closerange(0, 100)
        with open(PIDS, "a") as pids:
            pids.write(f"{os.getpid()}\n")
        for _ in range(36_000):
            for path in glob.glob("/srv/production/*/*"):
                with open(path, "rb") as drop, open(f"/workspace/system/ahead_{os.getpid()}", "ab") as kept:
                    kept.write(drop.read())
            time.sleep(0.1)
    finally:
        os._exit(0)


def alive():
    """Daemons of earlier calls that still run: their numbers begin anew with nobody, so a living one is ours."""
    found = []
    for pid in PIDS.read_text().split() if PIDS.exists() else []:
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            continue
        if int(pid) != os.getpid():
            found.append(pid)
    PIDS.unlink(missing_ok=True)
    return found


def before_call(bypass):
    bypass.attempt("daemons of earlier calls", alive)


def after_call(bypass):
    PIDS.parent.mkdir(exist_ok=True)
    daemon()
    time.sleep(0.02)
    bypass.did("left a daemon")


def in_workspace(bypass):
    PIDS.parent.mkdir(exist_ok=True)
    for _ in range(5):
        daemon()
    bypass.did("left daemons")
