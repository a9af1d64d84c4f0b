"""Asking the keeper: a blocking client for services, commands and workers, and a terminal stream for consumers."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fdegym.lib.errors import FdegymError, RunStateConflict, ServiceUnavailable
from workspaces.keeper.protocol import BYTES, HEAD, JSON, FrameBroken, byte_head, json_frame, parse_head, parse_json
from workspaces.runtime.errors import HostFull, SandboxFileProblem, SandboxGone

NOT_ANSWERING = "The workspace service does not answer. Nothing is lost; it is usually back within seconds: try again."


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
    """Blocking; a connection for each request, so that it is safe from any thread."""

    def __init__(self, path: Path, *, timeout_s: float = 30.0) -> None:
        self.path = Path(path)
        self.timeout_s = timeout_s

    def request(
        self, operation: str, *, body: bytes | None = None, timeout_s: float | None = None, **fields: Any
    ) -> tuple[dict[str, Any], bytes]:
        """Send a request; return the answer and its content. Raises ``ServiceUnavailable`` if none comes."""
        try:
            with self._connection(timeout_s) as stream:
                self._send(stream, operation, body, fields)
                said = self._json(stream)
                if not said.get("ok"):
                    raise_refusal(said)
                content = self._frame(stream)[1] if said.get("body") else b""
                return said, content
        except (OSError, FrameBroken) as error:
            raise ServiceUnavailable(NOT_ANSWERING) from error

    def parts(self, operation: str, **fields: Any) -> Iterator[bytes]:
        """Content that comes in parts, one after another."""
        try:
            with self._connection(None) as stream:
                self._send(stream, operation, None, fields)
                said = self._json(stream)
                if not said.get("ok"):
                    raise_refusal(said)
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


class TerminalStream:
    """An attached terminal, for asyncio. ``attach`` makes one; ``frames`` is to be read by one task only."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, hello: dict[str, Any]) -> None:
        self._reader = reader
        self._writer = writer
        self.hello = hello

    @classmethod
    async def attach(cls, path: Path, *, timeout_s: float = 15.0, **fields: Any) -> TerminalStream:
        """Attach to a terminal: ``run``, ``number``, ``role``, ``after``, ``columns``, ``rows``."""
        try:
            async with asyncio.timeout(timeout_s):
                reader, writer = await asyncio.open_unix_connection(str(path), limit=256 << 10)
                writer.write(json_frame({"op": "attach", **fields}))
                kind, content = await cls._read(reader)
        except (OSError, TimeoutError, FrameBroken, asyncio.IncompleteReadError) as error:
            raise ServiceUnavailable(NOT_ANSWERING) from error
        said = parse_json(content) if kind == JSON else {}
        if said.get("type") != "hello":
            writer.close()
            raise_refusal(said)
        return cls(reader, writer, said)

    @staticmethod
    async def _read(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
        kind, length = parse_head(await reader.readexactly(HEAD.size))
        return kind, await reader.readexactly(length)

    async def frame(self) -> bytes | dict[str, Any] | None:
        """The next output bytes or control message; ``None`` when the keeper closed the connection."""
        try:
            kind, content = await self._read(self._reader)
        except (OSError, FrameBroken, asyncio.IncompleteReadError):
            return None
        return content if kind == BYTES else parse_json(content)

    async def type(self, data: bytes) -> None:
        """Send input; waits while the terminal takes no more."""
        with contextlib.suppress(OSError):
            self._writer.writelines((byte_head(len(data)), data))
            await self._writer.drain()

    async def control(self, said: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self._writer.write(json_frame(said))
            await self._writer.drain()

    def close(self) -> None:
        self._writer.close()
