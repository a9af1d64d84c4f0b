"""Which process made a thing, so that what a killed one left behind can be told and removed.

A process is found by its pid and start where it is seen. Workers in containers of their own share the site's directory and
do not see each other's processes: so each holds a lock on a file there, which the kernel lets go when the process ends.
"""

from __future__ import annotations

import fcntl
import functools
import os
from pathlib import Path

from django.conf import settings

MARKS = "grading-processes"  #: in the site's directory
_held: dict[tuple[int, Path], int] = {}  #: (pid, file) -> its descriptor, kept for as long as the process lives


def _started(pid: int) -> str | None:
    """The kernel's start time of a living process: with the pid it names a process for good."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


@functools.lru_cache(maxsize=4)
def _name(pid: int) -> str:
    return f"{pid}-{_started(pid)}"


def process_name() -> str:
    """This process, whose life is seen by all that share the site's directory from now on."""
    name = _name(os.getpid())
    _hold(_marks(None) / name)
    return name


def is_alive(name: str, var: Path | None = None) -> bool:
    """Whether the process of that name still runs, here or in another container. ``var``: the site's directory, if it is
    another site's."""
    pid, _, started = name.partition("-")
    if not (pid.isdecimal() and started.isdecimal()):
        return False
    return _started(int(pid)) == started or _is_held(_marks(var) / name)


def forget_the_dead() -> None:
    """Remove the files of processes that ended."""
    for mark in _marks(None).glob("*"):
        _is_held(mark)


def _marks(var: Path | None) -> Path:
    return Path(settings.VAR if var is None else var) / MARKS


def _hold(mark: Path) -> None:
    if (os.getpid(), mark) in _held:
        return
    for other in [key for key in _held if key[0] != os.getpid()]:
        os.close(_held.pop(other))  # of the process that this one was forked from
    mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        descriptor = os.open(mark, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_SH)  # shared: in two containers two processes may have the same name
        if os.fstat(descriptor).st_nlink:
            _held[os.getpid(), mark] = descriptor
            return
        os.close(descriptor)  # somebody took it for a dead one's and removed it between the two


def _is_held(mark: Path) -> bool:
    """Whether anybody holds it; the file of nobody is removed."""
    try:
        descriptor = os.open(mark, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:  # else it was removed, and a new one may lie there
            mark.unlink()
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
