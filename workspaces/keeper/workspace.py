"""One run's workspace in the keeper: its sandbox, its terminals, and when it was last used."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from workspaces.runtime.base import SandboxSpec, SandboxState
from workspaces.runtime.errors import SandboxError, SandboxExists, SandboxGone
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.sandbox import LaunchedSandbox
from workspaces.terminal.journal import Journal
from workspaces.terminal.record import Kind, Record
from workspaces.terminal.session import TerminalSession

logger = logging.getLogger(__name__)
T = TypeVar("T")
CALLS_AT_ONCE = 4  #: blocking calls of one workspace: the others' share of threads is safe from it
NUMBERS_A_SHELL = 2  #: for each shell that may be open so many numbers, and records, that a workspace can ever have


class TerminalRefused(Exception):
    """A terminal cannot be attached. ``kind``: ``no_terminal``, ``too_many`` or ``not_running``."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Workspace:
    """All methods run in the event loop; what blocks goes to the pool. ``lock`` makes changes of state one at a time."""

    def __init__(
        self, run_id: str, runtime: LauncherRuntime, records: Path, pool: Executor, terminals_max: int
    ) -> None:
        self.run_id = run_id
        self.person = ""  #: whose it is; "" for a command's
        self.lock = asyncio.Lock()
        self.terminals: dict[int, TerminalSession] = {}
        self.last_active = time.monotonic()
        self.cpu_s = 0.0
        self.saved_signature = ""
        self._runtime = runtime
        self._records = records / run_id
        self._pool = pool
        self._terminals_max = terminals_max
        self._calls = asyncio.Semaphore(CALLS_AT_ONCE)

    async def blocking(self, call: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Run a blocking call of the runtime in the pool."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(call, *arguments, **named))

    async def work(self, call: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """The same for what may take long: only some at once, so that stopping and terminals never wait for them."""
        async with self._calls:
            return await self.blocking(call, *arguments, **named)

    def touch(self) -> None:
        self.last_active = time.monotonic()

    def used_at(self) -> float:
        """When anything last happened in it, by the monotonic clock."""
        return max([self.last_active, *(session.last_active for session in self.terminals.values())])

    @property
    def sandbox(self) -> LaunchedSandbox:
        found = self._runtime.get(self.run_id)
        if found is None:
            raise SandboxGone("This run has no workspace on this host.")
        return found

    async def state(self) -> SandboxState:
        return await self.blocking(self._runtime.state, self.run_id)

    # life

    async def open(self, spec: SandboxSpec) -> None:
        """Create, start or resume. Idempotent. A stopped workspace gets what the specification shows now."""
        async with self.lock:
            if await self.state() is SandboxState.RUNNING:
                self.touch()
                return
            self._drop_terminals("restart")
            with contextlib.suppress(SandboxExists):
                await self.blocking(self._runtime.create, self.run_id, spec)
            await self.blocking(self._runtime.respecify, self.run_id, spec)
            await self.blocking(self._runtime.start, self.run_id)
            self.touch()
            self.cpu_s = 0.0

    async def stop(self, why: str) -> None:
        """Save the files and end everything inside."""
        async with self.lock:
            await self.blocking(self._runtime.stop, self.run_id)
            self._drop_terminals(why)

    async def destroy(self) -> None:
        async with self.lock:
            self._drop_terminals("destroyed")
            await self.blocking(self._runtime.destroy, self.run_id)

    async def save(self) -> bool:
        """Save the files if they changed since the last time; ``True`` if they had."""
        sandbox = self.sandbox
        signature = await self.blocking(sandbox.signature, ["/home/engineer", *sandbox.spec.writable])
        if signature == self.saved_signature:
            return False
        async with self.lock:
            await self.blocking(self._runtime.checkpoint, self.run_id)
        self.saved_signature = signature
        return True

    async def copy(self, target: Path, path: str, max_bytes: int) -> dict[str, Any]:
        """Pack ``path`` as ``freeze`` does, while everything inside goes on."""
        return asdict(await self.work(self.sandbox.snapshot, target, paths=[path], max_bytes=max_bytes))

    async def freeze(self, target: Path, path: str, max_bytes: int) -> dict[str, Any]:
        """End all processes, pack ``path`` in one order, let processes start again."""
        async with self.lock:
            sandbox = self.sandbox
            await self.blocking(sandbox.quiesce)
            try:
                report = await self.blocking(sandbox.snapshot, target, paths=[path], max_bytes=max_bytes)
            finally:
                with contextlib.suppress(SandboxError):
                    await self.blocking(sandbox.resume)
            return asdict(report)

    # terminals

    def live_terminals(self) -> list[int]:
        """Numbers of the terminals whose shells live."""
        return sorted(number for number, each in self.terminals.items() if not each.ended)

    def record_path(self, number: int) -> Path:
        return self._records / f"terminal-{number}.record"

    async def terminal(self, number: int, *, owner: bool, columns: int, rows: int) -> tuple[TerminalSession, bool]:
        """The terminal of that number and whether its shell is new. Only an owner opens one."""
        async with self.lock:
            session = self.terminals.get(number)
            if session is not None and not session.ended:
                return session, False
            if not owner:
                raise TerminalRefused("no_terminal", "This terminal is not open.")
            if len(self.live_terminals()) >= self._terminals_max:
                text = f"At most {self._terminals_max} terminals can be open: close one first."
                raise TerminalRefused("too_many", text)
            if not 1 <= number <= NUMBERS_A_SHELL * self._terminals_max:  # each number has a record of its own
                last = NUMBERS_A_SHELL * self._terminals_max
                raise TerminalRefused("too_many", f"Terminals have the numbers 1 to {last}: open one of those.")
            try:
                sandbox = self.sandbox
                master, _ = await self.blocking(sandbox.open_terminal, columns=columns, rows=rows, number=number)
            except SandboxGone as error:
                raise TerminalRefused("not_running", "The workspace is not running.") from error
            session = await self._session(number, master)
            session.record.note(Kind.SHELL, columns=columns, rows=rows)
            session.sized(columns, rows)
            return session, True

    async def _session(self, number: int, master: int, *, taken_up: bool = False) -> TerminalSession:
        old = self.terminals.pop(number, None)
        if old is not None:
            old.close()
        path = self.record_path(number)
        record = await self.blocking(Record, path)
        journal = await self.blocking(Journal, path.with_suffix(".journal"), record)
        session = TerminalSession(number, master, record, journal, self._ended, taken_up=taken_up)
        self.terminals[number] = session
        return session

    async def adopt_terminals(self) -> int:
        """Take up the terminals of a sandbox that outlived the former keeper; return how many."""
        sandbox, count = self.sandbox, 0
        for facts in await self.blocking(sandbox.terminals):
            if facts["status"] is None and facts["open"]:
                master = await self.blocking(sandbox.take_terminal, facts["number"])
                session = await self._session(facts["number"], master, taken_up=True)
                session.record.note(Kind.KEEPER)
                session.sized(facts["columns"], facts["rows"])
                count += 1
        return count

    def _ended(self, session: TerminalSession) -> None:
        asyncio.get_running_loop().create_task(self._tell_exit(session))

    async def _tell_exit(self, session: TerminalSession) -> None:
        status = None
        with contextlib.suppress(SandboxError, OSError):
            for _ in range(20):
                if self.terminals.get(session.number) is not session:
                    break  # somebody has opened another shell there already
                known = {each["number"]: each for each in await self.blocking(self.sandbox.terminals)}
                status = known.get(session.number, {}).get("status")
                if status is not None or session.number not in known:
                    break
                await asyncio.sleep(0.05)  # the PTY ends a moment before its shell is collected
            async with self.lock:
                if self.terminals.get(session.number) is session:
                    await self.blocking(self.sandbox.close_terminal, session.number)
        session.record.note(Kind.EXIT, status=status)
        session.farewell({"type": "exit", "status": status})
        session.close()

    def _drop_terminals(self, why: str) -> None:
        for session in self.terminals.values():
            if not session.ended:
                # what was stopped is not to be opened again by a page that merely lies open: for it, the shell has ended
                ended = {"type": "exit", "status": None, "reason": why}
                session.farewell(ended if why in ("idle", "stopped") else {"type": "closed", "reason": why})
            session.close()
        self.terminals.clear()

    async def close_terminal(self, number: int) -> None:
        """End a terminal's shell and all that belongs to its session."""
        with contextlib.suppress(SandboxError):
            await self.blocking(self.sandbox.close_terminal, number)

    def release(self) -> None:
        """The keeper leaves: let go of the PTYs, the shells live on."""
        for session in self.terminals.values():
            session.close()
