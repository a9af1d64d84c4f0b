"""To go on after the end: of a step, of a stop, of the whole sandbox.

python -m tests.isolation.programs.surviving NAME TOKEN: leaves processes behind whose command line holds the token.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

#: Ignores what can be ignored, and leaves a mark a hundred times a second.
SURVIVOR = """
import signal, time
for number in {*range(1, 65)} - {signal.SIGKILL, signal.SIGSTOP, 32, 33}:
    signal.signal(number, signal.SIG_IGN)
while True:
    with open("/workspace/system/alive", "a") as file:
        file.write("x")
    time.sleep(0.01)
"""
PR_SET_CHILD_SUBREAPER, PR_SET_DUMPABLE = 36, 4
libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Survival:
    name: str
    tries: str
    run: Callable[[str], None]


SURVIVALS: dict[str, Survival] = {}


def survival(run: Callable[[str], None]) -> Callable[[str], None]:
    SURVIVALS[run.__name__] = Survival(run.__name__, (run.__doc__ or "").partition("\n")[0], run)
    return run


def become_a_survivor(token: str) -> None:
    os.closerange(0, 64)
    os.execv("/usr/bin/python3", ["python3", "-c", SURVIVOR, token])


@survival
def a_daemon(token: str) -> None:
    """Fork twice, begin a session, close everything: belongs to nobody any more. FC-56."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            become_a_survivor(token)
        os._exit(0)
    os.wait()


@survival
def a_foster_parent(token: str) -> None:
    """A process that takes orphans in the place of PID 1, and starts another whenever one is gone."""
    if os.fork() == 0:
        os.setsid()
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        for number in range(1, 32):
            with contextlib.suppress(OSError):
                signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.closerange(0, 64)
        while True:
            if os.fork() == 0:
                become_a_survivor(token)
            os.wait()


@survival
def one_that_is_never_the_same(token: str) -> None:
    """Fork and end without pause: whoever looks for the process finds one that is gone."""
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 64)
        while True:
            if os.fork() > 0:
                os._exit(0)
            time.sleep(0.001)
            if time.monotonic_ns() % 50 == 0 and os.fork() == 0:
                become_a_survivor(token)


@survival
def one_that_hides(token: str) -> None:
    """A process that nobody of its user may look into, under another's name."""
    if os.fork() == 0:
        os.setsid()
        libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
        with open("/proc/self/comm", "w") as file:
            file.write("kworker/0:1")
        become_a_survivor(token)


@survival
def one_that_comes_at_the_end(token: str) -> None:
    """A process that starts only when the program ends, from a thread and from what runs at exit."""

    def late() -> None:
        if os.fork() == 0:
            os.setsid()
            become_a_survivor(token)

    atexit.register(late)
    threading.Timer(0.05, late).start()


@survival
def one_that_holds_others_still(token: str) -> None:
    """Stop every other process of the sandbox, so that none of them can be asked to end."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            become_a_survivor(token)
        os.closerange(0, 64)
        while os.getppid() != 1:  # not the program that it comes from
            time.sleep(0.001)
        while True:
            for name in os.listdir("/proc"):
                if name.isdigit() and int(name) not in (1, os.getpid()):
                    with contextlib.suppress(OSError):
                        os.kill(int(name), signal.SIGSTOP)
            time.sleep(0.01)


def main(name: str, token: str) -> None:
    SURVIVALS[name].run(token)


if __name__ == "__main__":
    main(*sys.argv[1:])
