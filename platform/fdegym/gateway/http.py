"""HTTP/1.1 to programs nobody trusts, over one accepted socket: h11 reads and writes, this sets bounds to time and size.

A client that goes away ends the work that was done for it; one that sends or reads slowly is let go; one that sends too
much is told so before that is read.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import h11

from fdegym.gateway.problems import GatewayProblem

LARGEST_HEAD = 16 * 1024
LARGEST_BODY = 1024 * 1024
LARGEST_PIPELINE = 64 * 1024  #: of what a client sends before its last request is answered
READ = 64 * 1024


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds. ``head_s``: from the last answer to the whole head of the next request, however it trickles in."""

    head_s: float = 30.0
    body_s: float = 20.0
    write_s: float = 20.0
    discard_s: float = 5.0  #: for a client that must be told while it still sends


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    path: str
    body: bytes


class Responder:
    """Writes the answer to one request: ``json`` once, or ``begin_stream``, ``send`` and ``end_stream``."""

    def __init__(self, connection: h11.Connection, writer: asyncio.StreamWriter, write_s: float, *, head: bool) -> None:
        self._connection, self._writer, self._write_s, self._head = connection, writer, write_s, head
        self.begun = False
        self.bytes = 0

    async def json(self, status: int, body: Any, headers: Sequence[tuple[str, str]] = ()) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.bytes = len(data)
        length = [("content-type", "application/json"), ("content-length", str(len(data)))]
        self.begun = True
        await self._write(h11.Response(status_code=status, headers=[*length, *headers]))
        if not self._head:
            await self._write(h11.Data(data=data))
        await self._write(h11.EndOfMessage())

    async def problem(self, problem: GatewayProblem) -> None:
        await self.json(problem.status, problem.encoded(), problem.headers)

    async def begin_stream(self) -> None:
        self.begun = True
        headers = [("content-type", "text/event-stream"), ("cache-control", "no-cache")]
        await self._write(h11.Response(status_code=200, headers=headers))

    async def send(self, data: bytes) -> None:
        self.bytes += len(data)
        await self._write(h11.Data(data=data))

    async def end_stream(self) -> None:
        await self._write(h11.EndOfMessage())

    async def _write(self, event: h11.Event) -> None:
        data = self._connection.send(event)
        if data:
            self._writer.write(data)
            async with asyncio.timeout(self._write_s):
                await self._writer.drain()


Handler = Callable[[HttpRequest, Responder], Awaitable[None]]


class _ClientGone(Exception):
    """Nobody is there any more to answer."""


class Conversation:
    """One client's requests, one after the other, until it or we end it."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler, patience: Patience
    ) -> None:
        self._reader, self._writer, self._handler, self._patience = reader, writer, handler, patience
        self._connection = h11.Connection(h11.SERVER, max_incomplete_event_size=LARGEST_HEAD)

    async def hold(self) -> None:
        """Answer until the client is gone or must go."""
        try:
            while await self._one_request():
                self._connection.start_next_cycle()
        except (TimeoutError, ConnectionError, _ClientGone):
            return
        except h11.RemoteProtocolError as problem:
            await self._say_malformed(problem)
        finally:
            self._writer.close()

    async def _one_request(self) -> bool:
        """Read and answer one request; whether another may follow."""
        async with asyncio.timeout(self._patience.head_s):
            head = await self._next_event()
        if not isinstance(head, h11.Request):
            return False
        responder = Responder(self._connection, self._writer, self._patience.write_s, head=head.method == b"HEAD")
        try:
            body = await self._body(dict(head.headers))
        except GatewayProblem as too_large:
            await responder.problem(too_large)
            await self._discard()
            return False
        path = head.target.decode("ascii", "replace").partition("?")[0]
        await self._unless_client_leaves(self._handler(HttpRequest(head.method.decode("ascii"), path, body), responder))
        return self._connection.our_state is h11.DONE and self._connection.their_state is h11.DONE

    async def _next_event(self) -> Any:
        while True:
            found = self._connection.next_event()
            if found is not h11.NEED_DATA:
                return found
            self._connection.receive_data(await self._reader.read(READ))

    async def _body(self, headers: Mapping[bytes, bytes]) -> bytes:
        too_large = GatewayProblem(413, "request_too_large", f"A request may be at most {LARGEST_BODY} bytes.")
        length = headers.get(b"content-length", b"0")
        if len(length) > 12 or int(length) > LARGEST_BODY:
            raise too_large
        if self._connection.they_are_waiting_for_100_continue:
            self._writer.write(self._connection.send(h11.InformationalResponse(status_code=100, headers=[])))
        parts: list[bytes] = []
        size = 0
        async with asyncio.timeout(self._patience.body_s):
            while True:
                part = await self._next_event()
                if isinstance(part, h11.EndOfMessage):
                    return b"".join(parts)
                if not isinstance(part, h11.Data):
                    raise _ClientGone
                size += len(part.data)
                if size > LARGEST_BODY:
                    raise too_large
                parts.append(bytes(part.data))

    async def _unless_client_leaves(self, work: Awaitable[None]) -> None:
        working = asyncio.ensure_future(work)
        leaving = asyncio.ensure_future(self._until_client_leaves())
        try:
            await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise _ClientGone
            await working
        finally:
            for task in (working, leaving):
                if not task.done():
                    task.cancel()
                    with contextlib.suppress(asyncio.CancelledError, TimeoutError, ConnectionError):
                        await task

    async def _until_client_leaves(self) -> None:
        """Read ahead, a little: that is how one learns that a client is gone. What it sends is for its next request."""
        ahead = 0
        while ahead <= LARGEST_PIPELINE:
            try:
                data = await self._reader.read(READ)
            except ConnectionError:
                return
            if not data:
                return
            ahead += len(data)
            self._connection.receive_data(data)

    async def _discard(self) -> None:
        """A client that sends without looking must come to an end before it reads; for a while, and keeping nothing."""
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(self._patience.discard_s):
                while await self._reader.read(READ):
                    pass

    async def _say_malformed(self, problem: h11.RemoteProtocolError) -> None:
        with contextlib.suppress(TimeoutError, ConnectionError, h11.LocalProtocolError):
            if self._connection.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                status = problem.error_status_hint
                words = GatewayProblem(400 if status < 400 else status, "invalid_request", "That is no HTTP request.")
                await Responder(self._connection, self._writer, self._patience.write_s, head=False).problem(words)
