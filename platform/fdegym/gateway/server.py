"""The gateway's process: one unix socket for each run and grade, and one for the site's own processes.

It keeps nothing that database and directories do not hold: killed and started again, it serves every directory that is
there. Blocking work is done in threads.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import fcntl
import json
import logging
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import close_old_connections

from fdegym.gateway import accounts
from fdegym.gateway.bodies import Bodies
from fdegym.gateway.configuration import GatewayConfiguration
from fdegym.gateway.http import Conversation, Handler, HttpRequest, Patience, Responder
from fdegym.gateway.metering import settle_interrupted
from fdegym.gateway.places import CONTROL_NAME, SOCKET_NAME, grading_process, make_directory
from fdegym.gateway.problems import GatewayProblem
from fdegym.gateway.providers import Provider
from fdegym.gateway.served import Served, Services
from fdegym.lib.errors import FdegymError

logger = logging.getLogger(__name__)

SCAN_EVERY_S = 0.5
LOOK_AGAIN_S = 5.0  #: at a directory that could not be served
THREADS = 8
BACKLOG = 128
CONNECTIONS_OF_AN_ACCOUNT = 32
CONNECTIONS_OF_THE_SITE = 256
END_S = 5.0  #: for calls that are being made when the gateway is told to end


class GatewayRunning(FdegymError):
    """Another gateway serves this directory."""


@dataclass
class _Listener:
    """A listening socket with the directory entry it was bound to."""

    server: asyncio.Server
    inode: int
    served: Served | None
    connections: set[asyncio.Task[None]] = field(default_factory=set)


class Gateway:
    """Serves every directory below ``directory`` until told to stop."""

    def __init__(
        self,
        directory: Path,
        configuration: GatewayConfiguration,
        provider: Provider,
        *,
        bodies: Path | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.directory, self._patience = directory, patience or Patience()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="gateway")
        self._services = Services(configuration, provider, Bodies(bodies), self._in_thread)
        self._listeners: dict[str, _Listener] = {}
        self._not_before: dict[str, float] = {}  # directories that could not be served, and when to look again
        self._scanning = asyncio.Lock()
        self._instance = secrets.token_hex(8)  #: tells one life of the gateway from the next

    async def run(self, stopping: asyncio.Event) -> None:
        """Serve until ``stopping`` is set, then let go. Raises ``GatewayRunning``."""
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.directory.chmod(0o700)
        with _only_gateway(self.directory):
            await self._scan()
            site = await self._listen(self.directory / CONTROL_NAME, None, self._control, CONNECTIONS_OF_THE_SITE)
            provider = self._services.configuration.provider
            logger.info("the gateway (%s) serves %d sockets below %s", provider, len(self._listeners), self.directory)
            try:
                while not stopping.is_set():
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(stopping.wait(), SCAN_EVERY_S)
                    await self._scan()
            finally:
                await self._close([site, *self._listeners.values()])
                await self._services.provider.close()

    # ---- whom to serve

    async def _scan(self) -> None:
        """Serve every directory that names a run or grade, and only those; a socket that is gone is made again."""
        async with self._scanning:
            try:
                found = {entry.name for entry in os.scandir(self.directory) if entry.is_dir(follow_symlinks=False)}
            except OSError:
                logger.exception("%s cannot be read", self.directory)
                return
            gone = [name for name in self._listeners if name not in found or not self._is_bound(name)]
            await self._close([self._listeners.pop(name) for name in gone])
            now = asyncio.get_running_loop().time()
            for name in sorted(found - set(self._listeners)):
                if self._not_before.get(name, 0.0) <= now:
                    await self._open(name)
            self._not_before = {name: at for name, at in self._not_before.items() if name in found}

    def _is_bound(self, name: str) -> bool:
        try:
            return (self.directory / name / SOCKET_NAME).lstat().st_ino == self._listeners[name].inode
        except OSError:
            return False

    async def _open(self, name: str) -> None:
        try:
            account = await self._in_thread(lambda: accounts.account_named(name))
            if account is None:
                self._not_before[name] = asyncio.get_running_loop().time() + LOOK_AGAIN_S
                return
            if await self._in_thread(lambda: settle_interrupted(account)):
                logger.warning("calls of %s were interrupted; what they had reserved is charged", name)
            served = Served(account, self._services)
            make_directory(self.directory / name)
            path = self.directory / name / SOCKET_NAME
            self._listeners[name] = await self._listen(path, served, served.handle, CONNECTIONS_OF_AN_ACCOUNT)
        except Exception:  # one broken directory must not keep the others from being served
            logger.exception("%s cannot be served", name)
            self._not_before[name] = asyncio.get_running_loop().time() + LOOK_AGAIN_S

    async def _listen(self, path: Path, served: Served | None, handler: Handler, most: int) -> _Listener:
        """Bind under another name and rename: a client finds the old socket or the new one, never none."""
        making = path.with_name(".new")  # one name: what a killed gateway left half made goes with the next
        making.unlink(missing_ok=True)
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        bound.setblocking(False)
        try:
            bound.bind(str(making))
            making.chmod(0o600 if served is None else 0o666)
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
            crowded = len(listener.connections) >= most
            listener.connections.add(task)
            try:
                await Conversation(reader, writer, _busy if crowded else handler, self._patience).hold()
            finally:
                listener.connections.discard(task)

        listener = _Listener(await asyncio.start_unix_server(serve, sock=bound, backlog=BACKLOG), inode, served)
        return listener

    async def _close(self, listeners: list[_Listener]) -> None:
        for listener in listeners:
            listener.server.close()
        waiting = [task for listener in listeners for task in listener.connections]
        for task in waiting:
            task.cancel()
        if waiting:
            await asyncio.wait(waiting, timeout=END_S)
        if self._services.settling:
            await asyncio.wait(set(self._services.settling), timeout=END_S)

    # ---- the site's own processes

    async def _control(self, request: HttpRequest, responder: Responder) -> None:
        """``/open``, ``/step`` and ``/close`` a grade's account."""
        try:
            await responder.json(200, {"instance": self._instance, **await self._controlled(request)})
        except GatewayProblem as problem:
            await responder.problem(problem)
        except (TimeoutError, ConnectionError):
            raise
        except Exception:
            logger.exception("the site's request %s failed", request.path)
            await responder.problem(GatewayProblem(500, "gateway_failed", "The gateway failed; its log says how."))

    async def _controlled(self, request: HttpRequest) -> dict[str, Any]:
        if request.path == "/ping":
            return {"provider": self._services.configuration.provider}
        asked = json.loads(request.body)
        name = str(asked["name"])
        if grading_process(name) is None:
            raise GatewayProblem(400, "invalid_request", f"{name!r} is no grade's name.")
        if request.path == "/open":
            await self._in_thread(lambda: accounts.open_grade(asked, self._services.configuration))
            make_directory(self.directory / name)
            await self._scan()
        listener = self._listeners.get(name)
        if listener is None or listener.served is None:
            raise GatewayProblem(404, "unknown_account", f"{name} is not served.")
        if request.path == "/step":
            listener.served.calls_of_step = 0
            return {"fault": listener.served.fault}
        elif request.path == "/close":
            del self._listeners[name]
            self._not_before[name] = float("inf")
            await self._close([listener])
            return {"use": await self._in_thread(lambda: accounts.use_of_grade(name))}
        return {}

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        def with_fresh_connection() -> Any:
            close_old_connections()
            try:
                return work()
            finally:
                close_old_connections()

        here = contextvars.copy_context()  # its log lines are of this run there too
        return await asyncio.get_running_loop().run_in_executor(self._threads, here.run, with_fresh_connection)


async def _busy(request: HttpRequest, responder: Responder) -> None:
    await responder.problem(GatewayProblem(503, "busy", "Too many connections at once. Try again in a moment."))


@contextlib.contextmanager
def _only_gateway(directory: Path) -> Iterator[None]:
    """Hold the directory's lock: two gateways would take each other's sockets away."""
    with (directory / "gateway.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as held:
            raise GatewayRunning(f"Another gateway serves {directory}. This one has nothing to do.") from held
        yield
