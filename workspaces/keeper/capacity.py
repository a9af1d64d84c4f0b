"""How many workspaces one host holds: a number of them, and the memory that they take together.

A workspace may take far more memory than it usually does, so what counts is what each one holds now, and for a new one
all that it may take. Nobody's open workspace is ever ended to make room: whoever comes when there is none waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workspaces.keeper.workspace import Workspace
from workspaces.runtime.base import Limits, SandboxState
from workspaces.runtime.errors import HostFull, SandboxError, SandboxGone

MIB = 1 << 20
SHARE = 0.75  #: of the machine's memory; the rest is for the site, the database, graders, and the files' cache
LEAST_MB = 64  #: for each workspace, where their number is not given: a shell, an editor, a small program
ANSWER_S = 5.0
FRESH_S = 1.0  #: so long what was measured counts: of many that open at once not each asks all others


@dataclass(frozen=True, slots=True)
class Capacity:
    """What the running workspaces of a host may be and hold together."""

    workspaces: int
    memory_mb: int


def machine_memory_mb(proc: Path = Path("/proc"), groups: Path = Path("/sys/fs/cgroup")) -> int:
    """Memory of this machine, or of the container that it really is."""
    total = next(line for line in (proc / "meminfo").read_text().splitlines() if line.startswith("MemTotal:"))
    found = [int(total.split()[1]) // 1024]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):  # "max" is no number
            found.append(int((groups / name).read_text()) // MIB)
    return min(found)


def capacity_of(machine_mb: int, *, workspaces: int | None = None, memory_mb: int | None = None) -> Capacity:
    """What an operator asked for, completed from the machine's memory."""
    memory_mb = memory_mb or max(1, int(machine_mb * SHARE))
    return Capacity(workspaces or max(1, memory_mb // LEAST_MB), memory_mb)


def most_mb(limits: Limits) -> int:
    """All that a workspace can take: its files and shared memory lie in memory too."""
    return limits.memory_mb + limits.disk_mb + limits.shm_mb


class Room:
    """Asked before a workspace starts. One start is considered at a time, so that two cannot share the last place."""

    def __init__(self, capacity: Capacity) -> None:
        self.capacity = capacity
        self._held_mb: dict[str, int] = {}  #: as measured last; of those started since, all that they can take
        self._starting: set[str] = set()
        self._measured_at = float("-inf")
        self._lock = asyncio.Lock()

    async def take(self, run_id: str, limits: Limits, known: Mapping[str, Workspace]) -> None:
        """Keep room for a workspace until it has started. Raises ``HostFull``; one that runs has its room already."""
        async with self._lock:
            workspace = known.get(run_id)
            if workspace is None or await workspace.state() is not SandboxState.RUNNING:
                await self._find_room(most_mb(limits), run_id, known)
            self._starting.add(run_id)

    def settle(self, run_id: str) -> None:
        """It has started, or it has not: what it holds is asked of itself from now on."""
        self._starting.discard(run_id)

    async def _find_room(self, wanted_mb: int, run_id: str, known: Mapping[str, Workspace]) -> None:
        self._held_mb.pop(run_id, None)
        if time.monotonic() - self._measured_at > FRESH_S or not self._fits(wanted_mb):
            await self._measure(known)
        if not self._fits(wanted_mb):
            raise HostFull(
                f"there is no room for {wanted_mb} MB: {len(self._held_mb)} of {self.capacity.workspaces} workspaces hold "
                f"{self.held_mb()} of {self.capacity.memory_mb} MB"
            )
        self._held_mb[run_id] = wanted_mb

    def held_mb(self) -> int:
        """What the open workspaces held when they were last asked, and of those started since all that they can take."""
        return sum(self._held_mb.values())

    def _fits(self, wanted_mb: int) -> bool:
        if not self._held_mb:
            return True  # on however small a machine, one person can work
        return len(self._held_mb) < self.capacity.workspaces and self.held_mb() + wanted_mb <= self.capacity.memory_mb

    async def _measure(self, known: Mapping[str, Workspace]) -> None:
        """Ask every workspace what it holds; who does not run holds nothing."""
        asked = [(run_id, workspace) for run_id, workspace in known.items() if run_id not in self._starting]
        answers = await asyncio.gather(*(self._held_by(workspace) for _, workspace in asked))
        held = {run_id: held_mb for (run_id, _), held_mb in zip(asked, answers, strict=True) if held_mb is not None}
        self._measured_at = time.monotonic()
        self._held_mb = {**held, **{run_id: self._held_mb[run_id] for run_id in self._starting & set(self._held_mb)}}

    async def _held_by(self, workspace: Workspace) -> int | None:
        try:
            sandbox = await workspace.blocking(lambda: workspace.sandbox)
        except SandboxError:  # it is gone, or its folder cannot be read: nothing can run from it
            return None
        try:
            usage = await asyncio.wait_for(workspace.blocking(sandbox.usage), ANSWER_S)
        except SandboxGone:
            return None
        except (SandboxError, TimeoutError):
            return most_mb(sandbox.spec.limits)  # it lives, and is too busy to say
        return -(-int(usage["memory_bytes"] + usage["disk_bytes"]) // MIB)
