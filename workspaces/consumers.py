"""The terminal's WebSocket: checks who comes, then copies frames between the browser and the keeper.

Bytes never pass the channel layer, nor channels' dispatch of messages to methods: an application that reads its frames
itself answers a key measurably sooner. ``docs/terminal-protocol.md`` documents the wire.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings

from fdegym.accounts.sockets import CHECK_EVERY_S, SocketRefused, admit, query_of
from fdegym.lib.errors import FdegymError, ServiceUnavailable
from fdegym.lib.together import Together
from fdegym.runs.access import live_among
from workspaces.keeper.client import TerminalStream, TerminalUnavailable
from workspaces.terminal import protocol

logger = logging.getLogger(__name__)
_live_of_open = Together(live_among)
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class TerminalConsumer:
    """One client of one terminal: an ASGI application for one connection."""

    def __init__(self, scope: Message, receive: Receive, send: Send) -> None:
        self.scope = scope
        self._receive = receive
        self._send = send
        self._closed = False

    @classmethod
    def as_asgi(cls) -> Callable[[Message, Receive, Send], Awaitable[None]]:
        """The application, as a router wants it."""

        async def application(scope: Message, receive: Receive, send: Send) -> None:
            await cls(scope, receive, send).run()

        return application

    async def run(self) -> None:
        """From the handshake to the end of the connection."""
        await self._receive()  # websocket.connect
        await self._send({"type": "websocket.accept"})  # a close code only reaches the page after this
        try:
            stream = await self._attach(await self._admit())
        except SocketRefused as refusal:
            await self._close(refusal.code, str(refusal))
            return
        tasks: list[asyncio.Task[None]] = []
        try:
            await self._say(stream.hello)
            tasks = [asyncio.create_task(work) for work in (self._output(stream), self._look(), self._input(stream))]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                error = task.exception()
                if error is not None and not isinstance(error, OSError):  # OSError: the browser left in the middle
                    raise error
        finally:
            for task in tasks:
                task.cancel()
            stream.close()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _say(self, said: Message) -> None:
        await self._send({"type": "websocket.send", "text": json.dumps(said)})

    async def _close(self, code: int, reason: str) -> None:
        """End the connection with a code; quiet if the other side was quicker."""
        if not self._closed:
            self._closed = True
            with contextlib.suppress(Exception):
                await self._send({"type": "websocket.close", "code": code, "reason": reason[:120]})

    # admission

    async def _admit(self) -> int | None:
        """Let the person in, or raise ``SocketRefused``. Gives the place in the stream that the page has reached."""
        run_id, number = (self.scope["url_route"]["kwargs"][name] for name in ("run_id", "number"))
        self.run_id, self.number = str(run_id), int(number)
        self.visitor = await database_sync_to_async(admit)(
            self.scope, socket=f"terminal {self.number}", run_id=self.run_id
        )
        pair = (self.visitor.user_id, self.run_id)
        self._allow((await database_sync_to_async(live_among)([pair]))[pair])
        given = query_of(self.scope).get("after", "")
        return int(given) if given.isdecimal() and len(given) < 19 else None

    @staticmethod
    def _allow(live: bool | None) -> None:
        if live is None:
            raise SocketRefused(protocol.CLOSE_NOT_YOURS, "no such run for you")
        if not live:
            raise SocketRefused(protocol.CLOSE_RUN_OVER, "the run is over")

    def _check(self) -> None:
        """Of all open terminals together."""
        self.visitor.check()
        self._allow(_live_of_open((self.visitor.user_id, self.run_id)))

    async def _attach(self, after: int | None) -> TerminalStream:
        query = query_of(self.scope)
        size: dict[str, int] = {}
        for name in ("columns", "rows"):
            given = query.get(name, "")
            if given.isdecimal() and len(given) < 5:
                size[name] = int(given)
        try:
            return await TerminalStream.attach(
                Path(settings.KEEPER_SOCKET),
                run=self.run_id,
                number=self.number,
                role=self.visitor.role,
                after=after,
                **size,
            )
        except TerminalUnavailable as error:
            codes = {"too_many": protocol.CLOSE_TOO_MANY, "no_terminal": protocol.CLOSE_NO_TERMINAL}
            raise SocketRefused(codes.get(error.kind, protocol.CLOSE_RESTARTED), str(error)) from error
        except ServiceUnavailable as error:
            raise SocketRefused(protocol.CLOSE_RESTARTED, "the workspace service restarts") from error
        except FdegymError as error:
            raise SocketRefused(protocol.CLOSE_RESTARTED, "the workspace is not running") from error

    # frames

    async def _input(self, stream: TerminalStream) -> None:
        """Browser to keeper, until the browser leaves."""
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                self._closed = True
                return
            data, text = message.get("bytes"), message.get("text")
            if data is not None:
                if len(data) > protocol.INPUT_BYTES_MAX:
                    await self._close(protocol.CLOSE_BAD_FRAME, "too much input in one frame")
                    return
                await stream.type(data)
            elif text is not None:
                said = protocol.parse_control(text)
                if said is not None and said["type"] != "pong":
                    await stream.control(said)

    async def _output(self, stream: TerminalStream) -> None:
        """Keeper to browser. Sending waits for the browser's socket, and so does the keeper for us."""
        while True:
            frame = await stream.frame()
            if isinstance(frame, bytes):
                await self._send({"type": "websocket.send", "bytes": frame})
                continue
            if frame is None or frame.get("type") == "closed":
                reason = "the workspace service restarts" if frame is None else str(frame.get("reason"))
                await self._close(protocol.CLOSE_RESTARTED, reason)
                return
            await self._say(frame)
            if frame.get("type") == "exit":
                await self._close(1000, "the shell ended")
                return

    async def _look(self) -> None:
        """Ping, and notice that the person may not stay, or the end of the run."""
        since_ping = 0.0
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            since_ping += CHECK_EVERY_S
            try:
                await database_sync_to_async(self._check)()
            except SocketRefused as refused:
                await self._close(refused.code, str(refused))
                return
            except Exception:
                logger.exception("a terminal's session could not be checked")
                continue
            if since_ping >= protocol.PING_EVERY_S:
                since_ping = 0.0
                await self._say({"type": "ping"})
