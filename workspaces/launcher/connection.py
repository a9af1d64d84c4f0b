"""A client of the launcher: what it asks, one thing after another, and what it is told."""

from __future__ import annotations

import contextlib
import selectors
import socket

from .wire import WireBroken, decode, encode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .main import Launcher


class Connection:
    """One client of the launcher. Requests are answered one after another."""

    def __init__(self, launcher: Launcher, stream: socket.socket) -> None:
        self.launcher = launcher
        self.stream = stream
        self.incoming = bytearray()
        self.outgoing = bytearray()
        self.busy = False  #: a command or job of this connection is under way
        self.open = True

    def ready(self, mask: int) -> None:
        if mask & selectors.EVENT_WRITE:
            self.flush()
        if mask & selectors.EVENT_READ and self.open:
            try:
                data = self.stream.recv(1 << 18)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self.close()
                return
            self.incoming += data
            self.advance()

    def advance(self) -> None:
        """Begin the next complete request, unless one is under way."""
        while self.open and not self.busy:
            try:
                message = decode(self.incoming)
            except WireBroken:
                self.close()
                return
            if message is None:
                return
            self.launcher.requests.handle(self, *message)

    def answer(self, header: dict[str, Any], body: bytes = b"", descriptors: tuple[int, ...] = ()) -> None:
        if not self.open:
            return
        data = encode(header, body)
        if descriptors and not self.outgoing:
            with contextlib.suppress(OSError):
                sent = socket.send_fds(self.stream, [data], list(descriptors))
                data = data[sent:]
        self.outgoing += data
        self.flush()

    def flush(self) -> None:
        try:
            while self.outgoing:
                del self.outgoing[: self.stream.send(self.outgoing)]
        except BlockingIOError:
            pass
        except OSError:
            self.close()
            return
        self.launcher.watch(self.stream, self.ready, write=bool(self.outgoing))

    def close(self) -> None:
        if self.open:
            self.open = False
            self.launcher.unwatch(self.stream)
            self.stream.close()
            self.launcher.connections -= 1
            self.launcher.abandon(self)
