"""Asking the keeper: a blocking client for services, commands and workers, and a terminal stream for consumers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from fdegym.lib.errors import FdegymError, RunStateConflict, ServiceUnavailable
from workspaces.keeper.protocol import (
    BYTES,
    HEAD,
    JSON,
    FrameBroken,
    Splitter,
    byte_head,
    json_frame,
    parse_head,
    parse_json,
)
from workspaces.runtime.errors import HostFull, SandboxFileProblem, SandboxGone

WAITING_BYTES = 256 << 10  #: of a terminal's output, between the keeper and a browser that is slower
NOT_ANSWERING = "The workspace service does not answer. Nothing is lost; it is usually back within seconds: try again."


class KeeperAway(ServiceUnavailable):
    """The keeper is not there, or gave no answer in time: nothing is known of what was asked."""


class TerminalUnavailable(FdegymError):
    """A terminal cannot be attached. ``kind`` is ``no_terminal``, ``too_many`` or ``not_running``."""

    http_status = 409

    def __init__(self, text: str, kind: str) -> None:
        super().__init__(text)
        self.kind = kind


def raise_refusal(said: dict[str, Any]) -> None:
    """Raise what a refusing answer of the keeper stands for."""
    kind, text = str(said.get("kind")), str(said.get("error"))
    if kind == "file":
        raise SandboxFileProblem(text, str(said.get("file")))
    if kind in ("SandboxGone", "SandboxMissing"):
        raise SandboxGone("The workspace is not running. Open it again; its files are kept.")
    if kind == "HostFull":
        raise HostFull(text)
    if kind in ("no_terminal", "too_many", "not_running"):
        raise TerminalUnavailable(text, kind)
    if kind in ("SandboxBusy", "SandboxExists", "SandboxTooLarge"):
        raise RunStateConflict(text)
    raise ServiceUnavailable(text)


class KeeperClient:
    """Blocking; a connection for each request, so that it is safe from any thread.

    ``refuse`` raises what a refusing answer stands for to whoever asks.
    """

    def __init__(
        self, path: Path, *, timeout_s: float = 30.0, refuse: Callable[[dict[str, Any]], None] = raise_refusal
    ) -> None:
        self.path = Path(path)
        self.timeout_s = timeout_s
        self._refuse = refuse

    def request(
        self, operation: str, *, body: bytes | None = None, timeout_s: float | None = None, **fields: Any
    ) -> tuple[dict[str, Any], bytes]:
        """Send a request; return the answer and its content. Raises ``KeeperAway`` if none comes."""
        try:
            with self._connection(timeout_s) as stream:
                self._send(stream, operation, body, fields)
                said = self._json(stream)
                if not said.get("ok"):
                    self._refuse(said)
                content = self._frame(stream)[1] if said.get("body") else b""
                return said, content
        except (OSError, FrameBroken) as error:
            raise KeeperAway(NOT_ANSWERING) from error

    def parts(self, operation: str, **fields: Any) -> Iterator[bytes]:
        """Content that comes in parts, one after another."""
        try:
            with self._connection(None) as stream:
                self._send(stream, operation, None, fields)
                said = self._json(stream)
                if not said.get("ok"):
                    self._refuse(said)
                while part := self._frame(stream)[1]:
                    yield part
        except (OSError, FrameBroken) as error:
            raise ServiceUnavailable(NOT_ANSWERING) from error

    @contextlib.contextmanager
    def _connection(self, timeout_s: float | None) -> Iterator[socket.socket]:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
            stream.settimeout(5.0)
            stream.connect(str(self.path))
            stream.settimeout(timeout_s or self.timeout_s)
            yield stream

    @staticmethod
    def _send(stream: socket.socket, operation: str, body: bytes | None, fields: dict[str, Any]) -> None:
        stream.sendall(json_frame({"op": operation, "body": body is not None, **fields}))
        if body is not None:
            stream.sendall(byte_head(len(body)))
            stream.sendall(body)

    @staticmethod
    def _exactly(stream: socket.socket, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            data = stream.recv(min(count - len(parts), 1 << 20))
            if not data:
                raise FrameBroken("the keeper closed the connection")
            parts += data
        return bytes(parts)

    def _frame(self, stream: socket.socket) -> tuple[bytes, bytes]:
        kind, length = parse_head(self._exactly(stream, HEAD.size))
        return kind, self._exactly(stream, length)

    def _json(self, stream: socket.socket) -> dict[str, Any]:
        kind, content = self._frame(stream)
        if kind != JSON:
            raise FrameBroken("an answer begins with JSON")
        return parse_json(content)


class TerminalStream(asyncio.Protocol):
    """An attached terminal, for asyncio. ``attach`` makes one; ``frame`` is to be called by one task only."""

    def __init__(self) -> None:
        self._splitter = Splitter()
        self._frames: deque[bytes | dict[str, Any]] = deque()
        self._bytes_waiting = 0
        self._holding = False  #: the keeper is not listened to: enough waits here
        self._over = False
        self._frame_came: asyncio.Future[None] | None = None
        self._writable: asyncio.Future[None] | None = None  #: while the keeper takes no more
        self._transport: asyncio.Transport
        self.hello: dict[str, Any] = {}

    @classmethod
    async def attach(cls, path: Path, *, timeout_s: float = 15.0, **fields: Any) -> TerminalStream:
        """Attach to a terminal: ``run``, ``number``, ``role``, ``after``, ``columns``, ``rows``."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout_s):
                _, stream = await loop.create_unix_connection(cls, str(path))
                try:
                    stream._transport.write(json_frame({"op": "attach", **fields}))
                    said = await stream.frame()
                except BaseException:
                    stream.close()
                    raise
        except (OSError, TimeoutError) as error:
            raise ServiceUnavailable(NOT_ANSWERING) from error
        if not isinstance(said, dict):
            stream.close()
            raise ServiceUnavailable(NOT_ANSWERING)
        if said.get("type") != "hello":
            stream.close()
            raise_refusal(said)
        stream.hello = said
        return stream

    # asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        try:
            for kind, content in self._splitter.feed(data):
                if kind == BYTES:
                    self._frames.append(content)
                    self._bytes_waiting += len(content)
                else:
                    self._frames.append(parse_json(content))
        except FrameBroken:
            self.close()
        if self._bytes_waiting > WAITING_BYTES and not self._holding:
            self._holding = True
            self._transport.pause_reading()
        self._tell(self._frame_came)

    def connection_lost(self, exc: Exception | None) -> None:
        self._over = True
        self._tell(self._frame_came)
        self.resume_writing()

    def pause_writing(self) -> None:
        self._writable = asyncio.get_running_loop().create_future()

    def resume_writing(self) -> None:
        self._tell(self._writable)
        self._writable = None

    @staticmethod
    def _tell(future: asyncio.Future[None] | None) -> None:
        if future is not None and not future.done():
            future.set_result(None)

    # frames

    async def frame(self) -> bytes | dict[str, Any] | None:
        """The next output bytes or control message; ``None`` when the keeper closed the connection."""
        while not self._frames:
            if self._over:
                return None
            self._frame_came = asyncio.get_running_loop().create_future()
            await self._frame_came
        frame = self._frames.popleft()
        if isinstance(frame, bytes):
            self._bytes_waiting -= len(frame)
        if self._holding and self._bytes_waiting < WAITING_BYTES // 2 and not self._over:
            self._holding = False
            self._transport.resume_reading()
        return frame

    async def type(self, data: bytes) -> None:
        """Send input; waits while the terminal takes no more."""
        await self._send(byte_head(len(data)) + data)

    async def control(self, said: dict[str, Any]) -> None:
        await self._send(json_frame(said))

    async def _send(self, frame: bytes) -> None:
        if not self._over:
            self._transport.write(frame)
        if self._writable is not None:
            await self._writable

    def close(self) -> None:
        self._transport.close()
