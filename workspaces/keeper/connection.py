"""The keeper's side of one connection: frames in and out, and a terminal's outlet once it is attached."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, cast

from workspaces.keeper.protocol import BYTES, FrameBroken, Splitter, byte_head, json_frame, parse_json

if TYPE_CHECKING:
    from workspaces.terminal.flow import Viewer
    from workspaces.terminal.session import TerminalSession

OUT_HIGH_BYTES = 128 << 10

Handler = Callable[["Connection", dict[str, Any], bytes], Coroutine[Any, Any, None]]


class Connection(asyncio.Protocol):
    """Also a ``workspaces.terminal.session.Outlet``."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self._splitter = Splitter()
        self._request: dict[str, Any] | None = None  #: announced a body that is still coming
        self._task: asyncio.Task[None] | None = None
        self._writable = True
        self.transport: asyncio.Transport | None = None
        self.session: TerminalSession | None = None
        self.viewer: Viewer | None = None

    # asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is one in all but name
        self.transport.set_write_buffer_limits(high=OUT_HIGH_BYTES)

    def data_received(self, data: bytes) -> None:
        try:
            for kind, content in self._splitter.feed(data):
                self._frame(kind, content)
        except FrameBroken:
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        if self.session is not None and self.viewer is not None:
            self.session.detach(self.viewer)
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        if self.session is not None and self.viewer is not None:
            self.session.writable(self.viewer)

    # frames

    def _frame(self, kind: bytes, content: bytes) -> None:
        if self.session is not None and self.viewer is not None:
            self._terminal_frame(kind, content)
        elif kind == BYTES:
            if self._request is None:
                raise FrameBroken("bytes that nothing announced")
            request, self._request = self._request, None
            self._begin(request, content)
        else:
            request = parse_json(content)
            if request.get("body"):
                self._request = request
            else:
                self._begin(request, b"")

    def _begin(self, request: dict[str, Any], body: bytes) -> None:
        if self._task is not None and not self._task.done():
            raise FrameBroken("a second request before the first was answered")
        self._task = asyncio.get_running_loop().create_task(self._handle(self, request, body))

    def _terminal_frame(self, kind: bytes, content: bytes) -> None:
        assert self.session is not None  # noqa: S101 - checked by the caller
        assert self.viewer is not None  # noqa: S101
        if kind == BYTES:
            self.session.type(self.viewer, content)
            return
        said = parse_json(content)
        if said.get("type") == "size":
            self.session.resize(self.viewer, int(said["columns"]), int(said["rows"]))
        elif said.get("type") == "ack":
            self.session.acknowledge(self.viewer, int(said["seq"]))

    # answers, and the outlet of a terminal

    def answer(self, said: dict[str, Any], body: bytes | None = None) -> None:
        """Answer a request, with content if there is any."""
        if self.transport is None:
            return
        if body is None:
            self.transport.write(json_frame({"ok": True, **said}))
        else:
            self.transport.write(json_frame({"ok": True, "body": True, **said}))
            self.send_bytes(body)

    def refuse(self, kind: str, text: str, **more: Any) -> None:
        if self.transport is not None:
            self.transport.write(json_frame({"ok": False, "kind": kind, "error": text, **more}))

    def ready(self) -> bool:
        return self._writable and self.transport is not None

    def send_bytes(self, data: bytes) -> None:
        if self.transport is not None:
            self.transport.writelines((byte_head(len(data)), data))

    def send_control(self, said: dict[str, Any]) -> None:
        if self.transport is not None:
            self.transport.write(json_frame(said))

    def hold_input(self, hold: bool) -> None:
        if self.transport is not None and not self.transport.is_closing():
            (self.transport.pause_reading if hold else self.transport.resume_reading)()

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()
