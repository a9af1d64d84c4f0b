"""The keeper: answers requests, owns the terminals and the queue of workspaces that are to start."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import logging
import os
import shutil
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from fdegym.lib import logs
from fdegym.lib.errors import FdegymError
from workspaces.keeper import telling
from workspaces.keeper.capacity import Capacity, Room, capacity_of, machine_memory_mb
from workspaces.keeper.connection import Connection
from workspaces.keeper.lending import Lending
from workspaces.keeper.starting import StartQueue
from workspaces.keeper.workspace import TerminalRefused, Workspace
from workspaces.places import PERSON
from workspaces.runtime.base import SandboxState
from workspaces.runtime.choice import RuntimeChoice
from workspaces.runtime.errors import RuntimeUnusable, SandboxError, SandboxFileProblem
from workspaces.runtime.spec_file import parse_spec
from workspaces.terminal.protocol import size_or_none

logger = logging.getLogger(__name__)
THREADS = 32
LOCK_WAIT_S = 15.0  #: a keeper that is just ending is waited for
FREEZE_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class KeeperSettings:
    """How a keeper runs. Times in seconds."""

    state_dir: Path
    socket: Path
    runtime: RuntimeChoice = field(default_factory=RuntimeChoice)
    terminals_max: int = 8  #: open shells of one workspace
    starts_at_once: int = 4
    each_person: int = 3  #: open workspaces of one person
    idle_stop_s: float = 3600.0
    save_every_s: float = 60.0
    look_every_s: float = 15.0
    capacity: Capacity = field(default_factory=lambda: capacity_of(machine_memory_mb()))


class KeeperRunning(FdegymError):
    """Another keeper has the state directory."""

    http_status = 503


class RequestUnknown(Exception):
    """The keeper does not know the operation, or it lacks something."""


class Keeper:
    """One per host. ``serve`` runs until cancelled; sandboxes and shells outlive it."""

    def __init__(self, settings: KeeperSettings) -> None:
        self.settings = settings
        self.runtime = settings.runtime.make(settings.state_dir)
        self.records = self.runtime.state_dir / "_records"
        self.pool = ThreadPoolExecutor(THREADS, thread_name_prefix="sandbox")
        self.workspaces: dict[str, Workspace] = {}
        self.room = Room(settings.capacity)
        self.lending = Lending(settings.runtime, settings.state_dir.parent, settings.socket.parent)
        self.starts = StartQueue(
            self.room, self.workspaces, at_once=settings.starts_at_once, each_person=settings.each_person
        )
        self._connections: weakref.WeakSet[Connection] = weakref.WeakSet()

    def workspace(self, run_id: str) -> Workspace:
        """The workspace of a run, known or not."""
        found = self.workspaces.get(run_id)
        if found is None:
            self.runtime.state(run_id)  # refuses what cannot be an id
            found = Workspace(run_id, self.runtime, self.records, self.pool, self.settings.terminals_max)
            self.workspaces[run_id] = found
        return found

    async def adopt(self) -> None:
        """Find the workspaces that lived through the end of the former keeper."""
        for sandbox in await asyncio.get_running_loop().run_in_executor(
            self.pool, self.runtime.adopt, {"kind": "workspace"}
        ):
            workspace = self.workspace(sandbox.id)
            workspace.person = sandbox.spec.labels.get(PERSON, "")
            with contextlib.suppress(SandboxError, OSError):
                if await workspace.state() is SandboxState.RUNNING:
                    count = await workspace.adopt_terminals()
                    logger.info("took up the workspace of run %s with %d terminals", sandbox.id, count)

    async def serve(self) -> None:
        """Adopt, listen, answer."""
        path = self.settings.socket
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = await self._be_the_only_one()
        cleared = await self._remove_half_made()
        await self.adopt()
        temporary = path.with_name(path.name + ".new")
        temporary.unlink(missing_ok=True)
        loop = asyncio.get_running_loop()
        server = await loop.create_unix_server(self._connection, str(temporary), backlog=512)
        temporary.chmod(0o600)
        temporary.replace(path)
        logger.info("the keeper answers at %s", path)
        clearing = None if cleared else asyncio.create_task(self._remove_half_made_later())
        try:
            await self.starts.run()  # until cancelled
        finally:
            if clearing is not None:
                clearing.cancel()
            server.close()
            self.starts.close()
            for connection in list(self._connections):
                connection.close()
            for workspace in self.workspaces.values():
                workspace.release()
            os.close(lock)

    async def _remove_half_made(self) -> bool:
        """Whether what killed processes left is gone. Without Docker's daemon that cannot be done, and must not be fatal."""
        try:
            await asyncio.to_thread(self.runtime.remove_half_made)
        except RuntimeUnusable as problem:
            logger.warning("what may be left half made stays for now: %s", problem)
            return False
        return True

    async def _remove_half_made_later(self) -> None:
        cleared = False
        while not cleared:
            await asyncio.sleep(self.settings.look_every_s)
            cleared = await self._remove_half_made()

    def _connection(self) -> Connection:
        connection = Connection(self.handle)
        self._connections.add(connection)
        return connection

    async def _be_the_only_one(self) -> int:
        """Hold the state directory's lock: two keepers would each read half of every terminal."""
        descriptor = os.open(self.runtime.state_dir / "_keeper.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        for _ in range(int(LOCK_WAIT_S / 0.1)):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
            except BlockingIOError:
                await asyncio.sleep(0.1)
        os.close(descriptor)
        raise KeeperRunning(f"Another keeper has {self.runtime.state_dir}: end it first.")

    # requests

    async def handle(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        """Answer one request; every problem becomes an answer."""
        operation = getattr(self, "on_" + str(request.get("op")), None)
        logs.bind_anew(run=request.get("run"))  # for as long as this connection
        try:
            if operation is None:
                raise RequestUnknown(f"The keeper does not know {request.get('op')!r}.")
            await operation(connection, request, body)
        except SandboxFileProblem as problem:
            connection.refuse("file", str(problem), file=problem.kind)
        except SandboxError as problem:
            connection.refuse(type(problem).__name__, str(problem))
        except TerminalRefused as problem:
            connection.refuse(problem.kind, str(problem))
        except (RequestUnknown, KeyError, TypeError, ValueError) as problem:
            connection.refuse("request", f"The keeper cannot read this request: {problem}")
        except OSError as problem:
            logger.exception("request %s failed", request.get("op"))
            connection.refuse("failed", f"The keeper could not do that: {problem.strerror or problem}")

    async def on_ping(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        connection.answer({"pid": os.getpid()})

    async def on_figures(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        connection.answer({"figures": await telling.figures(self)})

    async def on_workspaces(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        connection.answer({"workspaces": await telling.workspaces(self)})

    async def on_report(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        report = await asyncio.to_thread(self.runtime.report)
        connection.answer({"report": {**asdict(report), "limits_enforced_by": dict(report.limits_enforced_by)}})

    async def on_open(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        """Have a workspace run: answered at once while it waits for its turn, within ``patience_s`` while it starts."""
        start = await self.starts.ask(
            self.workspace(request["run"]),
            parse_spec(request["spec"]),
            begun_at=float(request["begun_at"]),
            capped=bool(request["capped"]),
            here=bool(request["here"]),
        )
        await self.starts.wait(start, float(request["patience_s"]))
        connection.answer(self.starts.told(start))

    async def on_place(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        connection.answer({"place": self.starts.place(request["run"])})

    async def on_leave(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        self.starts.leave(request["run"])
        connection.answer({})

    async def on_state(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        connection.answer({"state": await self.workspace(request["run"]).state()})

    async def on_stop(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        await self.stop(request["run"], "stopped")
        connection.answer({})

    async def stop(self, run_id: str, why: str) -> None:
        """Save a workspace's files and end everything inside; its room is for who waits."""
        self.starts.leave(run_id)
        await self.workspace(run_id).stop(why)
        self.starts.wake()

    async def on_destroy(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        await self.forget(request["run"])
        connection.answer({})

    async def forget(self, run_id: str) -> None:
        """Destroy a workspace from any state."""
        self.starts.leave(run_id)
        await self.workspace(run_id).destroy()
        self.workspaces.pop(run_id, None)
        self.starts.wake()

    async def on_touch(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        self.workspace(request["run"]).touch()
        connection.answer({})

    async def on_reconcile(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        """Remove every workspace that no live run owns, found on the host and not from memory.

        One opened within ``grace_s`` stays: its run may have begun after the caller listed the live ones.
        """
        live, newest = {str(run_id) for run_id in request["live"]}, time.time() - float(request["grace_s"])
        found = await asyncio.to_thread(self.runtime.adopt, {"kind": "workspace"})
        removed, failed = [], []
        for sandbox in found:
            if sandbox.id in live or self.runtime.specified_at(sandbox.id) > newest:
                continue
            try:
                await self.forget(sandbox.id)
                removed.append(sandbox.id)
            except (SandboxError, OSError):
                logger.exception("the orphan %s could not be removed", sandbox.id)
                failed.append(sandbox.id)
        connection.answer({"removed": removed, "failed": failed})

    async def on_recorded(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        """Whose terminals have records here."""
        newest = time.time() - float(request["older_than_s"])
        found = [path.name for path in self.records.glob("*") if path.stat().st_mtime < newest]
        connection.answer({"runs": sorted(found)})

    async def on_forget_records(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        """Remove the records of runs that are gone; while a workspace is there, its terminals write them."""
        for run_id in request["runs"]:
            if await self.workspace(run_id).state() is SandboxState.GONE:
                self.workspaces.pop(run_id, None)
                await asyncio.to_thread(shutil.rmtree, self.records / run_id, ignore_errors=True)
        connection.answer({})

    async def on_exec(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        workspace = self.workspace(request["run"])
        workspace.touch()
        result = await workspace.work(
            workspace.sandbox.exec,
            request["argv"],
            stdin=body,
            environment=request.get("environment"),
            working_directory=request.get("working_directory"),
            timeout_s=float(request["timeout"]),
            output_bytes=int(request["output_bytes"]),
        )
        facts = asdict(result)
        stdout, stderr = facts.pop("stdout"), facts.pop("stderr")
        connection.answer({**facts, "stdout_bytes": len(stdout)}, stdout + stderr)

    # containers of gradings

    async def on_lend(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        await self.lending.start(request["sandbox"])
        connection.answer({})

    async def on_take_back(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        await self.lending.end(request["sandbox"])
        connection.answer({})

    async def on_lending_report(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        connection.answer({"report": await self.lending.report()})

    # files

    async def on_put(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        workspace = self.workspace(request["run"])
        workspace.touch()
        await workspace.work(workspace.sandbox.put, request["path"], body)
        connection.answer({})

    async def on_read(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        workspace = self.workspace(request["run"])
        read = workspace.sandbox.read_beginning if request.get("beginning") else workspace.sandbox.read
        content = await workspace.work(read, request["path"], max_bytes=int(request["max_bytes"]))
        connection.answer({}, content)

    async def on_list(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        workspace = self.workspace(request["run"])
        connection.answer({"entries": await workspace.work(workspace.sandbox.listing, request["path"])})

    async def on_make_directory(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        workspace = self.workspace(request["run"])
        await workspace.work(workspace.sandbox.make_directory, request["path"])
        connection.answer({})

    async def on_delete(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        workspace = self.workspace(request["run"])
        await workspace.work(workspace.sandbox.delete, request["path"])
        connection.answer({})

    async def on_rename(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        workspace = self.workspace(request["run"])
        await workspace.work(workspace.sandbox.rename, request["path"], request["target"])
        connection.answer({})

    async def on_changes(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        workspace = self.workspace(request["run"])
        changes = await workspace.work(workspace.sandbox.compare, request["path"], body)
        connection.answer({"changes": changes})

    async def on_copy(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        target = Path(request["target"])
        report = await self.workspace(request["run"]).copy(target, request["path"], FREEZE_BYTES)
        report["sha256"] = await asyncio.to_thread(_sha256, target)
        connection.answer(report)

    async def on_freeze(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        target = Path(request["target"])
        report = await self.workspace(request["run"]).freeze(target, request["path"], FREEZE_BYTES)
        report["sha256"] = await asyncio.to_thread(_sha256, target)
        connection.answer(report)

    # terminals

    async def on_terminals(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        connection.answer({"terminals": self.workspace(request["run"]).live_terminals()})

    async def on_close_terminal(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        await self.workspace(request["run"]).close_terminal(int(request["number"]))
        connection.answer({})

    async def on_record(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        """The record of a terminal, in parts of a byte frame each; an empty frame is the end."""
        path = self.workspace(request["run"]).record_path(int(request["number"]))
        if not path.exists():
            raise TerminalRefused("no_terminal", "There is no record of this terminal.")
        connection.answer({"size": path.stat().st_size})
        with path.open("rb") as file:
            while part := await asyncio.to_thread(file.read, 1 << 20):
                while not connection.ready():
                    await asyncio.sleep(0.01)
                    if connection.transport is None:
                        return
                connection.send_bytes(part)
        connection.send_bytes(b"")

    async def on_attach(self, connection: Connection, request: dict[str, Any], body: bytes) -> None:
        workspace = self.workspace(request["run"])
        owner = request.get("role") == "owner"
        size = size_or_none(request.get("columns"), request.get("rows"))
        columns, rows = size or (80, 24)
        session, fresh = await workspace.terminal(int(request["number"]), owner=owner, columns=columns, rows=rows)
        if connection.transport is None:
            return
        workspace.touch()
        after = request.get("after")
        connection.session = session
        connection.viewer = session.attach(
            connection, owner=owner, after=int(after) if after is not None else None, size=size, fresh=fresh
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
