"""The desk: the one process that answers for the customer's people. A unix socket per run, and one for the site.

It keeps nothing that the runs' logs do not hold, and finds the runs to serve by their directories: killed and started
again it goes on where it was. Blocking work (database, matcher) is done in threads, one at a time for each run, so that
no run, client or flood of messages keeps another waiting.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import fcntl
import logging
import os
import socket
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from django.db import close_old_connections

from fdegym.catalog.scenarios import for_visitors
from fdegym.lib import counts, logs
from fdegym.lib.errors import FdegymError, RunNotFound, ServiceUnavailable
from fdegym.runs.models import Run
from stakeholders.exchange import Exchange, FindMatch
from stakeholders.protocol import (
    LONGEST_LINE,
    SITE_SOCKET_NAME,
    SOCKET_NAME,
    RequestMalformed,
    encode,
    failure,
    parse,
    text_of,
)

logger = logging.getLogger(__name__)

SCAN_EVERY_S = 0.25
THREADS = 8
BACKLOG = 512  #: connections that wait to be taken
CONNECTIONS_OF_A_RUN = 64
CONNECTIONS_OF_THE_SITE = 512
IDLE_S = 30.0  #: a client that sends no complete line for so long is let go
WRITE_S = 20.0  #: a client that takes no answer for so long is let go
BURST = 40  #: requests a run may make at once
REQUESTS_A_SECOND = 10.0  #: … and in the long run; more are answered, later
EXCHANGES_KEPT = 500
OPERATIONS = ("say", "wait", "trial", "who", "inbox", "history")

Result = TypeVar("Result")


class DeskRunning(FdegymError):
    """Another desk serves this directory."""


@dataclass
class _Served:
    """One run's place at the desk."""

    exchange: Exchange
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    used_at: float = field(default_factory=time.monotonic)
    tokens: float = BURST


@dataclass
class _Listener:
    """A listening socket with the directory entry it was bound to."""

    server: asyncio.Server
    inode: int
    connections: set[asyncio.Task[None]] = field(default_factory=set)


class Desk:
    """Serves every run directory below ``directory`` until cancelled."""

    def __init__(
        self,
        directory: Path,
        find_match: FindMatch,
        warm: Callable[[], None] = lambda: None,
        announce_trial: Callable[[], None] = lambda: None,
    ) -> None:
        """``announce_trial`` tells whoever runs trials that one was asked for; unheard, it is found all the same."""
        self.directory = directory
        self._find_match = find_match
        self._announce_trial = announce_trial
        self._warm = warm
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="desk")
        self._served: dict[str, _Served] = {}
        self._listeners: dict[str, _Listener] = {}
        self._unknown: dict[str, float] = {}  # directories whose run is not there (yet), and when to look again
        self._scanning = asyncio.Lock()

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve until ``stopping`` is set; then finish what was begun. Raises ``DeskRunning``."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.directory.chmod(0o700)  # what lies below may be entered by a sandbox's user, but only from inside it
        with _only_desk(self.directory):
            await self._scan()
            site = await self._listen(self.directory / SITE_SOCKET_NAME, None, CONNECTIONS_OF_THE_SITE)
            warming = asyncio.create_task(self._in_thread(self._warm))
            warming.add_done_callback(_log_failure)
            logger.info("the desk serves %d runs below %s", len(self._listeners), self.directory)
            try:
                while not stopping.is_set():
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(stopping.wait(), SCAN_EVERY_S)
                    await self._scan()
            finally:
                await self._finish([site, *self._listeners.values()])

    # ---- which runs to serve

    async def _scan(self) -> None:
        """Serve every directory that names a run, and only those; a socket that is gone is made again."""
        async with self._scanning:
            try:
                found = {entry.name for entry in os.scandir(self.directory) if entry.is_dir(follow_symlinks=False)}
            except OSError:
                logger.exception("%s cannot be read", self.directory)
                return
            for name in [name for name in self._listeners if name not in found or not self._is_bound(name)]:
                await self._close([self._listeners.pop(name)])
            for name in sorted(found - set(self._listeners)):
                await self._open(name)

    def _is_bound(self, name: str) -> bool:
        try:
            return (self.directory / name / SOCKET_NAME).lstat().st_ino == self._listeners[name].inode
        except OSError:
            return False

    async def _open(self, name: str) -> None:
        if self._unknown.get(name, 0.0) > time.monotonic():
            return
        try:
            run_id = uuid.UUID(name)
            if not await self._in_thread(lambda: Run.objects.filter(pk=run_id).exists()):
                raise RunNotFound(f"no run has the directory {name}")
            folder = self.directory / name
            folder.chmod(0o711)  # a sandbox's user may be another one; DESK_DIR itself stays closed to all others
            self._listeners[name] = await self._listen(folder / SOCKET_NAME, name, CONNECTIONS_OF_A_RUN)
        except (ValueError, RunNotFound):
            self._unknown[name] = time.monotonic() + 2.0
        except Exception:  # one broken directory must not keep the other runs from being served
            logger.exception("the run directory %s cannot be served", name)
            self._unknown[name] = time.monotonic() + 5.0

    async def _listen(self, path: Path, run_id: str | None, most_connections: int) -> _Listener:
        """Bind under another name and rename: a client finds the old socket or the new one, never none."""
        making = path.with_name(f".{path.name}.new")  # one name: what a killed desk left half made goes with the next
        making.unlink(missing_ok=True)
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        bound.setblocking(False)
        try:
            bound.bind(str(making))
            making.chmod(0o666 if run_id else 0o600)
            bound.listen(BACKLOG)
            making.rename(path)
            inode = os.lstat(path).st_ino
        except OSError:
            bound.close()
            making.unlink(missing_ok=True)
            raise

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None  # noqa: S101 - asyncio runs it as a task
            if len(listener.connections) >= most_connections:
                words = "Too many requests at once. Nothing was sent; try again in a moment."
                await _send(writer, failure(ServiceUnavailable(words)))
                writer.close()
                return
            listener.connections.add(task)
            try:
                await self._converse(reader, writer, run_id)
            finally:
                listener.connections.discard(task)

        listener = _Listener(
            await asyncio.start_unix_server(serve, sock=bound, limit=LONGEST_LINE, backlog=BACKLOG), inode
        )
        return listener

    async def _close(self, listeners: list[_Listener]) -> None:
        for listener in listeners:
            listener.server.close()
        waiting = [task for listener in listeners for task in listener.connections]
        for task in waiting:
            task.cancel()
        if waiting:
            await asyncio.wait(waiting, timeout=5)

    async def _finish(self, listeners: list[_Listener]) -> None:
        """Take nothing new, let what is being decided be answered, then let everybody go."""
        for listener in listeners:
            listener.server.close()
        busy = [served.lock for served in self._served.values() if served.lock.locked()]
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*(lock.acquire() for lock in busy)), 5)
        await asyncio.sleep(0)  # the answers that these requests were for are written now
        await self._close(listeners)

    # ---- one client

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, run_id: str | None) -> None:
        try:
            while True:
                try:
                    line = await asyncio.wait_for(reader.readuntil(b"\n"), IDLE_S)
                except asyncio.IncompleteReadError as end:
                    if not end.partial.strip():
                        return
                    line = end.partial
                except asyncio.LimitOverrunError:
                    words = "Please keep it to a page: that was far too long. It was not sent."
                    await _send(writer, failure(RequestMalformed(words)))
                    return
                if line.strip():
                    await _send(writer, await self._answer(line, run_id))
                if not line.endswith(b"\n"):
                    return
        except (TimeoutError, ConnectionError):
            return
        finally:
            writer.close()

    async def _answer(self, line: bytes, run_id: str | None) -> dict[str, Any]:
        try:
            request = parse(line)
            if request["op"] == "ping":
                return {"ok": True}
            if run_id is None:
                run_id = str(uuid.UUID(text_of(request, "run")))
                if request["op"] in ("open", "close"):
                    self._unknown.pop(run_id, None)
                    await self._scan()
                    return {"ok": True}
            logs.bind(run=run_id)  # for as long as this client, or its next request
            return {"ok": True} | await self._served_request(run_id, request)
        except ValueError:
            return failure(RunNotFound("There is no such run."))
        except FdegymError as problem:
            return failure(for_visitors(problem))
        except Exception:  # our own fault: said in words, kept in the log with its cause
            logger.exception("a request of run %s failed", run_id)
            words = "The desk could not do that just now; nothing is lost. Try again in a moment."
            return failure(ServiceUnavailable(words))

    async def _served_request(self, run_id: str, request: dict[str, Any]) -> dict[str, Any]:
        served = self._served.get(run_id)
        if served is None:
            self._forget_idle()
            served = self._served.setdefault(run_id, _Served(Exchange(run_id, self._find_match, self._announce_trial)))
        known = str(request["op"]) if request["op"] in OPERATIONS else "unknown"
        with counts.DESK_SECONDS.timing(operation=known):
            async with served.lock:  # a run's requests one after the other, each in its turn
                await self._pace(served)
                return await self._in_thread(lambda: _perform(served.exchange, request))

    async def _pace(self, served: _Served) -> None:
        """Let a run that floods the desk wait for its turn; people never notice."""
        now = time.monotonic()
        served.tokens = min(BURST, served.tokens + (now - served.used_at) * REQUESTS_A_SECOND) - 1
        served.used_at = now
        if served.tokens < 0:
            await asyncio.sleep(-served.tokens / REQUESTS_A_SECOND)

    def _forget_idle(self) -> None:
        if len(self._served) >= EXCHANGES_KEPT:
            idle = [name for name, served in self._served.items() if not served.lock.locked()]
            for name in sorted(idle, key=lambda name: self._served[name].used_at)[: EXCHANGES_KEPT // 2]:
                del self._served[name]

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        def with_fresh_connection() -> Result:
            close_old_connections()
            try:
                return work()
            finally:
                close_old_connections()

        here = contextvars.copy_context()  # its log lines are of this run there too
        return await asyncio.get_running_loop().run_in_executor(self._threads, here.run, with_fresh_connection)


def _perform(exchange: Exchange, request: dict[str, Any]) -> dict[str, Any]:
    operation = request["op"]
    if operation == "say":
        return exchange.say(text_of(request, "id"), text_of(request, "person"), text_of(request, "text"))
    if operation == "wait":
        return exchange.wait(text_of(request, "id"), text_of(request, "until"))
    if operation == "trial":
        return exchange.trial(text_of(request, "id"))
    plain: dict[str, Callable[[], dict[str, Any]]] = {
        "who": exchange.who,
        "inbox": exchange.inbox,
        "history": exchange.history,
    }
    if operation not in plain:
        raise RequestMalformed("That is nothing one can ask of the desk.")
    return plain[operation]()


async def _send(writer: asyncio.StreamWriter, answer: dict[str, Any]) -> None:
    writer.write(encode(answer))
    await asyncio.wait_for(writer.drain(), WRITE_S)


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        logger.error("the matcher could not be warmed; the first message will load it", exc_info=task.exception())


@contextlib.contextmanager
def _only_desk(directory: Path) -> Iterator[None]:
    """Hold the directory's lock: two desks would take each other's sockets away."""
    with (directory / "desk.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as held:
            raise DeskRunning(f"Another desk serves {directory}. This one has nothing to do.") from held
        yield
