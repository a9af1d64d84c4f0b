"""Who is ended when the sandbox's programs hold too much memory together, by the launcher or by the kernel."""

from __future__ import annotations

import os

from . import children


class Victim:
    """A program that was ended for the memory of all. ``pid`` and ``session`` are 0 where the kernel chose it."""

    def __init__(self, pid: int, name: str, session: int) -> None:
        self.pid = pid
        self.name = name
        self.session = session


class MemoryWatch:
    """``limit_mb`` holds for all programs together. ``events`` is a descriptor of the cgroup's count of kills, if any."""

    def __init__(self, limit_mb: int, events: int | None) -> None:
        self._kills = 0
        self._limit_bytes = limit_mb << 20
        self._events = events
        self._told = self.kernel_kills
        if events is not None:
            os.set_inheritable(events, False)

    @property
    def kernel_holds(self) -> bool:
        """Whether a cgroup holds all programs to a total of its own, between two looks."""
        return self._events is not None

    @property
    def kernel_kills(self) -> int:
        """How many programs of the cgroup the kernel has ended so far. It counts one before that one is dead."""
        if self._events is None:
            return 0
        for line in os.pread(self._events, 4096, 0).splitlines():
            name, _, count = line.partition(b" ")
            if name == b"oom_kill":
                return int(count)
        return 0

    @property
    def kills(self) -> int:
        """How many programs were ended for memory, by whomever."""
        return self._kills + self.kernel_kills - self._told

    def look(self, resident_bytes: float = float("inf")) -> list[Victim]:
        """End the largest programs if all hold too much; return those that were ended since the last look.

        ``resident_bytes``: no less than they hold, which takes longer to find out and is only asked if this is too much.
        """
        victims = []
        count = self.kernel_kills
        victims += [Victim(0, "A program", 0)] * (count > self._told)
        self._kills += count - self._told
        self._told = count
        killed = children.kill_largest_above(self._limit_bytes) if resident_bytes > self._limit_bytes else []
        self._kills += len(killed)
        return [*victims, *(Victim(*each) for each in killed)]
