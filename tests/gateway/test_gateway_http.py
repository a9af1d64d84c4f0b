"""The gateway's HTTP against clients that are slow, rude, huge or gone."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from fdegym.gateway.http import LARGEST_BODY, Conversation, HttpRequest, Patience, Responder

SHORT = Patience(head_s=0.4, body_s=0.4, write_s=0.4, discard_s=30)
HOST = b"Host: gateway\r\n"


class Served:
    """What the handler was given, and what became of its work."""

    def __init__(self) -> None:
        self.requests: list[HttpRequest] = []
        self.waiting, self.left, self.go = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def handle(self, request: HttpRequest, responder: Responder) -> None:
        self.requests.append(request)
        if request.path == "/wait":
            self.waiting.set()
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                self.left.set()
                raise
        if request.path == "/stream":
            await responder.begin_stream()
            try:
                while True:
                    await responder.send(b"x" * 65536)
            except TimeoutError:
                self.left.set()
                raise
        await responder.json(200, {"path": request.path, "bytes": len(request.body)})


@pytest.fixture
async def connect() -> AsyncIterator[Callable[..., Any]]:
    """``connect(patience)``: (reader, writer, what is served) of a new client."""
    directory = Path(tempfile.mkdtemp(prefix="gw"))
    servers, writers = [], []

    async def make(patience: Patience | None = None) -> Any:
        served, path = Served(), directory / str(len(servers))

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await Conversation(reader, writer, served.handle, patience or Patience()).hold()

        servers.append(await asyncio.start_unix_server(serve, path))
        reader, writer = await asyncio.open_unix_connection(path)
        writers.append(writer)
        return reader, writer, served

    yield make
    for writer in writers:
        writer.close()
    for server in servers:
        server.close()
    shutil.rmtree(directory)


def post(path: str, body: bytes, *headers: bytes) -> bytes:
    further = b"".join(header + b"\r\n" for header in headers)
    return b"POST %s HTTP/1.1\r\n%s%sContent-Length: %d\r\n\r\n%s" % (path.encode(), HOST, further, len(body), body)


async def response(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    async with asyncio.timeout(60):
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().splitlines() if line.startswith(b"content-length:"))
        return int(head.split()[1]), await reader.readexactly(int(length.split(b":")[1]))


async def ended(reader: asyncio.StreamReader) -> bytes:
    """What came before the server hung up."""
    async with asyncio.timeout(60):
        with contextlib.suppress(ConnectionError):
            return await reader.read()
    return b""


async def test_requests_on_one_connection_are_answered_one_after_the_other(connect: Any) -> None:
    reader, writer, _ = await connect()
    writer.write(post("/a", b"1") + post("/b", b"22"))
    assert await response(reader) == (200, b'{"path": "/a", "bytes": 1}')
    writer.write(b"GET /c?x=1 HTTP/1.1\r\n" + HOST + b"\r\n")
    assert await response(reader) == (200, b'{"path": "/b", "bytes": 2}')
    assert await response(reader) == (200, b'{"path": "/c", "bytes": 0}')


async def test_ten_megabytes_are_refused_before_they_are_sent(connect: Any) -> None:
    reader, writer, served = await connect()
    writer.write(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 10000000\r\n\r\n")
    status, body = await response(reader)
    assert status == 413
    assert b"request_too_large" in body
    assert served.requests == []


async def test_who_waits_to_be_told_to_go_on_is_told_that_it_is_too_much(connect: Any) -> None:
    reader, writer, _ = await connect()
    writer.write(b"POST / HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 10000000\r\n\r\n")
    assert (await response(reader))[0] == 413
    reader, writer, _ = await connect()
    writer.write(b"POST / HTTP/1.1\r\n" + HOST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 \r\n\r\n"
    writer.write(b"ok")
    assert (await response(reader))[0] == 200


async def test_ten_megabytes_in_pieces_are_refused_while_they_come(connect: Any) -> None:
    reader, writer, served = await connect()
    writer.write(b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n")
    for _ in range(LARGEST_BODY // 65536 + 1):
        writer.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
    assert (await response(reader))[0] == 413
    assert served.requests == []


async def test_a_client_that_sends_without_looking_still_reads_why(connect: Any) -> None:
    reader, writer, _ = await connect()
    writer.write(post("/", b"x" * 10_000_000))
    async with asyncio.timeout(60):
        await writer.drain()
    assert (await response(reader))[0] == 413


@pytest.mark.parametrize("beginning", [b"", b"POST / HTTP/1.1\r\nX: ", b"POST / HTTP/1.1\r\nContent-Length: 900\r\n"])
async def test_a_client_that_trickles_is_let_go(connect: Any, beginning: bytes) -> None:
    reader, writer, served = await connect(SHORT)
    writer.write(beginning + (b"\r\n" if beginning.endswith(b"900\r\n") else b""))

    async def trickle() -> None:
        while beginning:
            writer.write(b"x")
            await asyncio.sleep(0.02)

    trickling = asyncio.create_task(trickle())
    await ended(reader)
    trickling.cancel()
    assert served.requests == []


async def test_a_client_that_takes_nothing_is_let_go(connect: Any) -> None:
    _, writer, served = await connect(SHORT)
    writer.write(post("/stream", b""))
    await asyncio.wait_for(served.left.wait(), 60)


async def test_a_client_that_leaves_ends_the_work_that_was_done_for_it(connect: Any) -> None:
    _, writer, served = await connect()
    writer.write(post("/wait", b""))
    await asyncio.wait_for(served.waiting.wait(), 60)
    writer.close()
    await asyncio.wait_for(served.left.wait(), 60)


async def test_a_client_that_sends_ahead_without_end_is_let_go(connect: Any) -> None:
    _, writer, served = await connect()
    writer.write(post("/wait", b""))
    await asyncio.wait_for(served.waiting.wait(), 60)
    writer.write(b"x" * 1_000_000)
    await asyncio.wait_for(served.left.wait(), 60)


@pytest.mark.parametrize(
    ("nonsense", "status"),
    [
        (b"\x00\x01\x02\r\n\r\n", b"400"),
        (b"hello\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
        (b"GET /" + b"x" * 40_000, b"431"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
    ],
    ids=range(7),
)
async def test_what_is_no_request_is_said_to_be_none(connect: Any, nonsense: bytes, status: bytes) -> None:
    reader, writer, served = await connect()
    writer.write(nonsense)
    assert (await ended(reader)).startswith(b"HTTP/1.1 " + status)
    assert served.requests == []


async def test_a_length_beyond_all_numbers_is_too_large(connect: Any) -> None:
    reader, writer, _ = await connect()
    writer.write(b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: " + b"9" * 20 + b"\r\n\r\n")
    assert (await response(reader))[0] == 413
