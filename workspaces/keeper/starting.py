"""Who waits for a workspace to start: in order of arrival, fair between people, so many at once.

Whoever asks is in the queue from then on and is told where she stands; nothing is held open for her. She asks again every
few seconds, for as long as she is there, and so a keeper that was just started knows everybody again within seconds, in
the same order: it is that of the runs' beginnings. Who has not asked for a while has left.

The oldest start of each person comes before anybody's second one. Whoever has as many workspaces open as one person may
waits beside the queue and holds nobody back. Nobody passes the first for whom there is no room, however little they need.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from fdegym.lib import counts
from workspaces.keeper.capacity import Room
from workspaces.keeper.workspace import Workspace
from workspaces.places import PERSON
from workspaces.runtime.base import SandboxSpec, SandboxState
from workspaces.runtime.errors import HostFull, RuntimeUnusable, SandboxError, SandboxStartFailed

logger = logging.getLogger(__name__)
ABSENT_S = 150.0  #: a page asks every few seconds; in a tab that is hidden a browser lets it once a minute
LOOK_EVERY_S = 5.0  #: after room that nobody announced: memory given back, a workspace that died, a daemon that is back
WAITING_MAX = 2000  #: a bound for the keeper's memory


@dataclass(eq=False)
class Start:
    """One workspace that is to run. ``begun_at``, seconds of the epoch, is its place in the order."""

    workspace: Workspace
    spec: SandboxSpec
    begun_at: float
    capped: bool = True  #: counted among the workspaces that one person may have open
    own_open: list[str] = field(default_factory=list)  #: the person's other open ones, where they are too many
    task: asyncio.Task[None] | None = None  #: it is being started
    listeners: int = 0
    over: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    entered_at: float = field(default_factory=time.monotonic)
    asked_at: float = field(default_factory=time.monotonic)

    @property
    def person(self) -> str:
        """Commands belong to nobody and are together one person."""
        return self.spec.labels.get(PERSON, "")


class StartQueue:
    """All methods run in the event loop. ``each_person``: how many workspaces one person may have open."""

    def __init__(self, room: Room, known: Mapping[str, Workspace], *, at_once: int, each_person: int) -> None:
        self._room = room
        self._known = known
        self._at_once = at_once
        self._each_person = each_person
        self._starts: dict[str, Start] = {}
        self._failures: dict[str, Exception] = {}  #: of starts that nobody waited for; told to who asks next
        self._considering = asyncio.Lock()
        self._look_again_at = 0.0
        self._wakes = 0
        self._full = False  #: there was no room for the first
        self._problem = ""  #: why this host starts nothing now
        self._tasks: set[asyncio.Task[None]] = set()

    # asking

    async def ask(self, workspace: Workspace, spec: SandboxSpec, *, begun_at: float, capped: bool, here: bool) -> Start:
        """Have a workspace run; what it came to stands in ``told``. Raises what the last start failed with.

        Who is not ``here`` gets a place only while nobody waits for one.
        """
        if (failure := self._failures.pop(workspace.run_id, None)) is not None:
            raise failure
        runs = await workspace.state() is SandboxState.RUNNING
        start = self._starts.get(workspace.run_id)
        if start is None:
            start = Start(workspace, spec, begun_at, capped)
            if runs:
                workspace.touch()
                start.over.set_result(None)
                return start
            if (not here and self.waiting()) or len(self._starts) >= WAITING_MAX:
                return start  # told that everybody is before it; it may ask again
            self._starts[workspace.run_id] = start
        if here:
            start.asked_at = time.monotonic()
        if start.task is None:
            start.spec, start.capped = spec, capped
        await self.consider()
        return start

    async def wait(self, start: Start, patience_s: float) -> None:
        """Until it runs, if it is being started; for who has to wait for a turn nothing is held open. Raises its failure."""
        if start.task is None:
            return
        start.listeners += 1
        try:
            await asyncio.wait([start.over], timeout=patience_s)
        finally:
            start.listeners -= 1
        if start.over.done():
            self._failures.pop(start.workspace.run_id, None)  # it may have failed before this began to wait
            start.over.result()

    def told(self, start: Start) -> dict[str, Any]:
        """``state``: ``running``, ``starting`` or ``waiting``. Of one that waits also ``why`` (``turn``, ``room``, ``own``,
        ``host``), how many are ``before`` it, and which of the person's ``own`` are open."""
        if start.over.done():
            return {"state": "running"}
        if start.task is not None:
            return {"state": "starting"}
        why = "own" if start.own_open else "host" if self._problem else "room" if self._full else "turn"
        order = [one for one in self.in_order() if not one.own_open]
        before = order.index(start) if start in order else len(order)
        return {"state": "waiting", "why": why, "before": before, "own": start.own_open}

    def place(self, run_id: str) -> dict[str, Any] | None:
        """The same for a run that asked before; None for one that is not in the queue. Counts as asking again."""
        start = self._starts.get(run_id)
        if start is None:
            return None
        start.asked_at = time.monotonic()
        return self.told(start)

    def holds(self, run_id: str) -> bool:
        """Whether it waits or is being started: its workspace is needed, though there is nothing of it on the host yet."""
        return run_id in self._starts

    def leave(self, run_id: str) -> None:
        """Give up a place. What is being started goes on."""
        self._failures.pop(run_id, None)
        if (start := self._starts.get(run_id)) is not None and start.task is None:
            del self._starts[run_id]

    # the queue

    def waiting(self) -> list[Start]:
        """All that are not being started, in no order."""
        return [start for start in self._starts.values() if start.task is None]

    def in_order(self) -> list[Start]:
        """Who waits, the next first."""
        earlier: Counter[str] = Counter()
        turns = []
        for start in sorted(self.waiting(), key=lambda one: one.begun_at):
            turns.append((earlier[start.person], start))
            earlier[start.person] += 1
        return [start for _, start in sorted(turns, key=lambda turn: turn[0])]

    def oldest_s(self) -> float:
        """For how long the one has waited who has waited longest."""
        return max((time.monotonic() - start.entered_at for start in self.waiting()), default=0.0)

    async def consider(self) -> None:
        """Begin what can begin now."""
        async with self._considering:
            now, wakes = time.monotonic(), self._wakes
            for start in self.waiting():
                if now - start.asked_at > ABSENT_S:
                    del self._starts[start.workspace.run_id]
            if now < self._look_again_at:
                return
            for start in self.in_order():
                if sum(one.task is not None for one in self._starts.values()) >= self._at_once:
                    return
                start.own_open = await self._too_many_of(start)
                if start.own_open or self._starts.get(start.workspace.run_id) is not start:  # who left meanwhile
                    continue
                try:
                    await self._room.take(start.workspace.run_id, start.spec.limits, self._known)
                except HostFull as full:
                    if not self._full:
                        logger.warning("run %s and those after it wait: %s", start.workspace.run_id, full)
                        counts.STARTS.add(outcome="no_room")
                    self._full = True
                    if self._wakes == wakes:  # nobody made room while it was looked for
                        self._look_again_at = time.monotonic() + LOOK_EVERY_S
                    return
                self._full = False
                if self._starts.get(start.workspace.run_id) is not start:  # she left while room was looked for
                    self._room.settle(start.workspace.run_id)
                    continue
                start.workspace.person = start.person
                start.task = self._spawn(self._carry_out(start))

    async def _too_many_of(self, start: Start) -> list[str]:
        if not start.person or not start.capped:
            return []
        found = []
        for run_id, other in list(self._known.items()):
            if other.person == start.person and other is not start.workspace:
                known = self._starts.get(run_id)
                if (known is not None and known.task is not None) or await other.state() is SandboxState.RUNNING:
                    found.append(run_id)
        return found if len(found) >= self._each_person else []

    async def _carry_out(self, start: Start) -> None:
        run_id = start.workspace.run_id
        try:
            await start.workspace.open(start.spec)
        except RuntimeUnusable as problem:  # no fault of this start: it stays where it is
            if not self._problem:
                logger.warning("nothing can be started on this host: %s", problem)
            self._problem, start.task = str(problem), None
            self._look_again_at = time.monotonic() + LOOK_EVERY_S
        except Exception as problem:
            if not isinstance(problem, SandboxError | OSError):
                logger.exception("the workspace of run %s could not be started by a fault of ours", run_id)
                problem = SandboxStartFailed("The workspace could not be started by a fault of ours.")
            counts.STARTS.add(outcome="failed")
            self._failed(start, problem)
        else:
            counts.STARTS.add(outcome="ok")
            counts.START_SECONDS.add(time.monotonic() - start.entered_at)
            self._problem = ""
            self._starts.pop(run_id, None)
            start.over.set_result(None)
        finally:
            self._room.settle(run_id)
        self._spawn(self.consider())

    def _failed(self, start: Start, problem: Exception) -> None:
        self._starts.pop(start.workspace.run_id, None)
        start.over.set_exception(problem)
        start.over.exception()  # who waits for it is told; else who asks next
        if not start.listeners:
            self._failures[start.workspace.run_id] = problem

    # its own time

    def wake(self) -> None:
        """There may be room: somebody stopped or went."""
        self._look_again_at = 0.0
        self._wakes += 1
        if self._starts:
            self._spawn(self.consider())

    async def run(self) -> None:
        """Look again and again for what nobody announces."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if self._starts:
                try:
                    await self.consider()
                except Exception:  # a fault with one workspace must not end the looking for all
                    logger.exception("the queue of starts could not be looked at")

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
