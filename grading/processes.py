"""Which process of this host made a thing, so that what a killed one left behind can be told and removed."""

from __future__ import annotations

import functools
import os
from pathlib import Path


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
    """This process, on this host."""
    return _name(os.getpid())


def is_alive(name: str) -> bool:
    """Whether the process of that name still runs."""
    pid, _, started = name.partition("-")
    return pid.isdigit() and _started(int(pid)) == started
