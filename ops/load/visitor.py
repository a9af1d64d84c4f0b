"""What a browser does for a person: pages, JSON, and a terminal over its WebSocket (``docs/terminal-protocol.md``)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
import time
from collections import Counter, deque
from typing import Any

import httpx
import websockets

from ops.load.notes import Notes

PATIENCE_S = 60.0  #: after this long, what was waited for is counted as missing
ACKNOWLEDGE_EVERY = 64 << 10
DRAWS_BYTES_PER_S = 5e6  #: what a page's terminal draws of a flood: the lower end of what xterm.js promises
COLUMNS = 200  #: wide enough that no typed line is wrapped, which would put further bytes between the keys
PROMPT = b"\x1b[0m$ "  #: how the prompt of a workspace ends
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[a-zA-Z]|\][^\x07]*\x07|.)")


class Refused(Exception):
    """The site answered with something else than what a page expects."""


class Visitor:
    """One account's browser: its session, one pool of connections, its notes."""

    def __init__(self, address: str, session: str, notes: Notes) -> None:
        self.address, self.notes = address, notes
        self.token = secrets.token_hex(16)  # of the site's protection against forged forms: any, sent twice
        self.cookie = f"sessionid={session}; csrftoken={self.token}"
        self._http = httpx.AsyncClient(
            base_url=address,
            headers={"Cookie": self.cookie, "X-CSRFToken": self.token, "Referer": f"{address}/"},
            timeout=PATIENCE_S,
            follow_redirects=True,
        )

    async def close(self) -> None:
        await self._http.aclose()

    async def _answer(self, method: str, path: str, what: str, **sent: Any) -> httpx.Response:
        try:
            with self.notes.timed(what):
                reply = await self._http.request(method, path, **sent)
        except httpx.HTTPError as problem:
            self.notes.errors[f"{what}: {type(problem).__name__}"] += 1
            raise Refused(what) from problem
        if reply.status_code >= 400:
            self.notes.errors[f"{what}: HTTP {reply.status_code}"] += 1
            raise Refused(f"{what}: {reply.status_code} {reply.text[:200]}")
        return reply

    async def page(self, path: str, what: str) -> httpx.Response:
        return await self._answer("GET", path, what)

    async def form(self, path: str, fields: dict[str, str], what: str) -> httpx.Response:
        return await self._answer("POST", path, what, data=fields)

    async def ask(self, path: str, body: dict[str, Any], what: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self._answer("POST", path, what, json=body)).json()
        return found

    def socket(self, path: str) -> websockets.connect:
        """A WebSocket of the site, to be entered or awaited."""
        return websockets.connect(
            self.address.replace("http", "ws", 1) + path,
            additional_headers={"Cookie": self.cookie, "Origin": self.address},
            max_size=None,
            compression=None,
            proxy=None,
            open_timeout=PATIENCE_S,
            ping_interval=None,  # a page sends none; behind a flood that is drawn slowly its answer would come too late
        )


class Feed:
    """The conversation's socket, which every workbench keeps open: which messages it showed, and how often."""

    def __init__(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self.messages: Counter[str] = Counter()  #: id → how often the feed said it
        self._seq = 0
        self._reading: asyncio.Task[None] | None = None

    def open(self, run: str) -> None:
        self._reading = asyncio.create_task(self._read(run))

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self, run: str) -> None:
        while True:
            with contextlib.suppress(OSError, websockets.WebSocketException, Refused):
                given = await self.visitor.ask(f"/runs/{run}/feed/ticket/", {}, "ticket")
                async with self.visitor.socket(f"{given['url']}&after={self._seq}") as stream:
                    async for frame in stream:
                        said = json.loads(frame)
                        self._seq = max(self._seq, int(said["seq"]))
                        self.messages.update(item["id"] for item in said["items"] if item["kind"] == "message")
            self.visitor.notes.count("feeds connected again")
            await asyncio.sleep(1)


class Shell:
    """A terminal as the page has it: it acknowledges what it has drawn and comes back when it is cut off.

    ``draws``: bytes a second that it draws.
    """

    def __init__(self, visitor: Visitor, *, draws: float) -> None:
        self.visitor, self.notes, self.draws = visitor, visitor.notes, draws
        self.received = 0
        self._seq: int | None = None
        self._acknowledged = 0
        self._stream: websockets.ClientConnection | None = None
        self._connected = asyncio.Event()
        self._keys: deque[tuple[str, float]] = deque()  #: typed and not come back yet, with when
        self._keys_back = asyncio.Event()
        self._heard: bytearray | None = None  #: since Enter, while somebody waits for the prompt
        self._prompt = asyncio.Event()
        self._reading: asyncio.Task[None] | None = None

    # ---- the connection

    async def open(self, run: str) -> None:
        """Connect to the first terminal of a run, and wait for its prompt."""
        self._heard = bytearray()
        self._reading = asyncio.create_task(self._read(run))
        await self._wait(self._prompt, "a first prompt")

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        if self._stream is not None:
            await self._stream.close()

    async def _connect(self, run: str) -> None:
        with self.notes.timed("terminal connected"):
            given = await self.visitor.ask(f"/runs/{run}/terminals/ticket/", {"terminal": 1}, "ticket")
            address = f"{given['url']}&columns={COLUMNS}&rows=50"
            self._stream = await self.visitor.socket(address + ("" if self._seq is None else f"&after={self._seq}"))
        self._connected.set()

    async def _read(self, run: str) -> None:
        pause = 0.5
        while True:
            try:
                await self._connect(run)
                assert self._stream is not None
                pause = 0.5
                async for frame in self._stream:
                    await self._take(frame)
                self.notes.errors["terminal closed without a reason"] += 1
            except websockets.ConnectionClosed as closed:
                self.notes.errors[f"terminal closed: {closed.rcvd.code if closed.rcvd else 1006}"] += 1
            except (OSError, websockets.WebSocketException, Refused) as problem:
                self.notes.errors[f"terminal not connected: {type(problem).__name__}"] += 1
            self._connected.clear()
            self.notes.count("terminals connected again")
            await asyncio.sleep(pause)
            pause = min(10.0, pause * 2)

    async def _take(self, frame: bytes | str) -> None:
        if isinstance(frame, str):
            said = json.loads(frame)
            if said["type"] == "hello":
                self._seq = self._acknowledged = int(said["seq"])
            elif said["type"] == "gap":
                self.notes.errors["output left out"] += 1
                self._seq = int(said["to"])
            elif said["type"] == "ping":
                await self._send('{"type":"pong"}')
            return
        assert self._seq is not None
        self._seq += len(frame)
        self.received += len(frame)
        self._hear(frame)
        if len(frame) > 4096:
            await asyncio.sleep(len(frame) / self.draws)
        if self._seq - self._acknowledged >= ACKNOWLEDGE_EVERY:
            self._acknowledged = self._seq
            await self._send(json.dumps({"type": "ack", "seq": self._seq}))

    async def _send(self, data: bytes | str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            await self._connected.wait()
        assert self._stream is not None
        with contextlib.suppress(websockets.ConnectionClosed):  # counted by the reader, which comes back
            await self._stream.send(data)

    # ---- what comes back

    def _hear(self, data: bytes) -> None:
        now = time.perf_counter()
        if self._keys:
            for character in ESCAPES.sub("", data.decode(errors="replace")):
                if self._keys and character == self._keys[0][0]:
                    self.notes.took("echo", (now - self._keys.popleft()[1]) * 1e3)
                    self.notes.count("keys that came back")
            if not self._keys:
                self._keys_back.set()
        if self._heard is not None:
            self._heard += data
            if self._heard.endswith(PROMPT):
                self._prompt.set()

    async def _wait(self, event: asyncio.Event, what: str, patience_s: float = PATIENCE_S) -> bool:
        try:
            async with asyncio.timeout(patience_s):
                await event.wait()
        except TimeoutError:
            self.notes.errors[f"{what} did not come"] += 1
            return False
        return True

    # ---- what a person does

    async def key(self, key: str) -> None:
        """One key whose echo is waited for and timed, not by the person."""
        self._keys_back.clear()
        self._keys.append((key, time.perf_counter()))
        self.notes.count("keys typed")
        await self._send(key.encode())

    async def enter(self, what: str = "command") -> bytes:
        """Wait until all keys have come back, press Enter, and wait for the next prompt; what was printed before it."""
        if self._keys and not await self._wait(self._keys_back, "a key's echo"):
            self._keys.clear()
        return await self._until_prompt(b"\r", what)

    async def interrupt(self) -> None:
        """Ctrl-C, and the next prompt."""
        await self._until_prompt(b"\x03", "Ctrl-C to prompt")

    async def start(self) -> None:
        """Press Enter on what does not end by itself."""
        if self._keys and not await self._wait(self._keys_back, "a key's echo"):
            self._keys.clear()
        await self._send(b"\r")

    async def _until_prompt(self, pressed: bytes, what: str) -> bytes:
        self._heard = bytearray()
        self._prompt.clear()
        started = time.perf_counter()
        await self._send(pressed)
        if await self._wait(self._prompt, f"the prompt after {what}"):
            self.notes.took(what, (time.perf_counter() - started) * 1e3)
        heard, self._heard = bytes(self._heard), None
        return heard
