"""Whether anything moves in the sandbox, which is asked in hundreds of sandboxes whose people think or read.

Waking and looking at all processes costs far more on a busy machine than what is found out by it.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterable

from . import children


class Calm:
    """All processes as they were seen last, and whether that still says enough. ``limit_bytes`` is the memory of all."""

    def __init__(self, limit_bytes: int) -> None:
        self.pids: set[int] = set()
        self._limit_pages = limit_bytes // children.PAGE_BYTES
        self._load = os.open("/proc/loadavg", os.O_RDONLY | os.O_CLOEXEC)
        self._newest = -1

    def look(self) -> dict[int, children.Process]:
        """All processes of the sandbox but this one, by pid."""
        newest = self._newest_pid()
        alive = children.processes()
        self.pids = set(alive)
        # numbers began again at the lowest, or this kernel does not tell the newest: then each look is a thorough one
        self._newest = newest if newest >= max(alive, default=0) else -1
        return alive

    def lasts(self) -> bool:
        """No process or thread began since the last look, none of its processes ended, and all hold less than the limit.

        What is resident is more than what counts, which takes far longer to find out.
        """
        if self._newest_pid() != self._newest:
            return False
        try:
            pages = sum(int(children.told_by(pid, "statm").split(b" ", 2)[1]) for pid in self.pids)
        except (OSError, ValueError, IndexError):
            return False
        return pages <= self._limit_pages

    def _newest_pid(self) -> int:
        """The number that this sandbox's kernel gave last, to a process or a thread."""
        return int(os.pread(self._load, 256, 0).rpartition(b" ")[2])


class Bell:
    """Rings when programs at terminals read or print something: its descriptor, an ``epoll``, is then readable.

    That a terminal's master can be read is soon over, since the keeper reads it. That it can be written lasts, and the
    kernel tells so anew after each move at the other side.
    """

    def __init__(self) -> None:
        self.epoll: select.epoll | None = None

    def hang(self, masters: Iterable[int]) -> select.epoll:
        self.epoll = select.epoll()
        for master in masters:
            self.epoll.register(master, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
        self.epoll.poll(0)  # what each is told at first is how things stand
        return self.epoll

    def take_down(self) -> None:
        if self.epoll is not None:
            self.epoll.close()
            self.epoll = None
