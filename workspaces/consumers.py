"""The terminal's WebSocket: checks who comes, then copies frames between the browser and the keeper.

Bytes never pass the channel layer. ``docs/terminal-protocol.md`` documents the wire.
"""

# channels has no annotations:
# mypy: disallow-untyped-calls=false

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from importlib import import_module
from pathlib import Path
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.utils.crypto import constant_time_compare

from fdegym.lib.errors import FdegymError, RunNotFound, ServiceUnavailable
from fdegym.runs.access import get_run_for_user
from workspaces.keeper.client import TerminalStream, TerminalUnavailable
from workspaces.terminal import protocol
from workspaces.tickets import Ticket, TicketRefused, redeem_ticket

logger = logging.getLogger(__name__)
LOOK_EVERY_S = 3.0  #: how soon a revoked session or a finished run is noticed


class Refusal(Exception):
    """The socket is to be closed with this code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


def check_session(session_key: str | None, user_id: str) -> bool:
    """Whether the session exists and still belongs to an active person with that password."""
    if not session_key:
        return False
    data = import_module(settings.SESSION_ENGINE).SessionStore(session_key).load()
    if str(data.get(SESSION_KEY, "")) != user_id or not data.get(BACKEND_SESSION_KEY):
        return False
    user = get_user_model().objects.filter(pk=user_id, is_active=True).first()
    return user is not None and constant_time_compare(data.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())


class TerminalConsumer(AsyncWebsocketConsumer):
    """One client of one terminal."""

    async def connect(self) -> None:
        self.stream: TerminalStream | None = None
        self.tasks: list[asyncio.Task[None]] = []
        await self.accept()  # a close code only reaches the page after this
        try:
            ticket, after = await self._admit()
            self.stream = await self._attach(ticket, after)
        except Refusal as refusal:
            await self.close(refusal.code, str(refusal))
            return
        await self.send(text_data=json.dumps(self.stream.hello))
        loop = asyncio.get_running_loop()
        self.tasks = [loop.create_task(self._output()), loop.create_task(self._look())]

    async def disconnect(self, code: int) -> None:
        for task in self.tasks:
            task.cancel()
        if self.stream is not None:
            self.stream.close()
        raise StopConsumer

    # admission

    async def _admit(self) -> tuple[Ticket, int | None]:
        user, session = self.scope.get("user"), self.scope.get("session")
        if user is None or not user.is_authenticated:
            raise Refusal(protocol.CLOSE_SIGN_IN, "sign in")
        query = parse_qs(self.scope.get("query_string", b"").decode("ascii", "replace"))
        self.user_id, self.session_key = str(user.pk), session.session_key if session is not None else None
        self.run_id = str(self.scope["url_route"]["kwargs"]["run_id"])
        number = int(self.scope["url_route"]["kwargs"]["number"])
        if not await database_sync_to_async(check_session)(self.session_key, self.user_id):
            raise Refusal(protocol.CLOSE_SIGN_IN, "sign in")
        try:
            ticket = await database_sync_to_async(redeem_ticket)(
                query.get("ticket", [""])[0],
                run_id=self.run_id,
                terminal=number,
                user_id=self.user_id,
                session_key=self.session_key or "",
            )
        except TicketRefused as refused:
            raise Refusal(protocol.CLOSE_NOT_YOURS, str(refused)) from refused
        problem = await database_sync_to_async(self._problem_with_run)()
        if problem is not None:
            raise problem
        given = query.get("after", [""])[0]
        return ticket, int(given) if given.isdecimal() and len(given) < 19 else None

    def _problem_with_run(self) -> Refusal | None:
        user = get_user_model().objects.filter(pk=self.user_id).first()
        try:
            run = get_run_for_user(user, self.run_id)
        except RunNotFound:
            return Refusal(protocol.CLOSE_NOT_YOURS, "no such run for you")
        return None if run.is_live else Refusal(protocol.CLOSE_RUN_OVER, "the run is over")

    async def _attach(self, ticket: Ticket, after: int | None) -> TerminalStream:
        query = parse_qs(self.scope.get("query_string", b"").decode("ascii", "replace"))
        size: dict[str, int] = {}
        for name in ("columns", "rows"):
            given = query.get(name, [""])[0]
            if given.isdecimal() and len(given) < 5:
                size[name] = int(given)
        try:
            return await TerminalStream.attach(
                Path(settings.KEEPER_SOCKET),
                run=self.run_id,
                number=ticket.terminal,
                role=ticket.role,
                after=after,
                **size,
            )
        except TerminalUnavailable as error:
            codes = {"too_many": protocol.CLOSE_TOO_MANY, "no_terminal": protocol.CLOSE_NO_TERMINAL}
            raise Refusal(codes.get(error.kind, protocol.CLOSE_RESTARTED), str(error)) from error
        except ServiceUnavailable as error:
            raise Refusal(protocol.CLOSE_RESTARTED, "the workspace service restarts") from error
        except FdegymError as error:
            raise Refusal(protocol.CLOSE_RESTARTED, "the workspace is not running") from error

    # frames

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.stream is None:
            return
        if bytes_data is not None:
            if len(bytes_data) > protocol.INPUT_BYTES_MAX:
                await self.close(protocol.CLOSE_BAD_FRAME, "too much input in one frame")
                return
            await self.stream.type(bytes_data)
        elif text_data is not None:
            said = protocol.parse_control(text_data)
            if said is not None and said["type"] != "pong":
                await self.stream.control(said)

    async def _output(self) -> None:
        """Keeper to browser. ``send`` waits for the browser's socket, and so does the keeper for us."""
        assert self.stream is not None  # noqa: S101 - attached before the task began
        while True:
            frame = await self.stream.frame()
            if frame is None:
                await self._leave(protocol.CLOSE_RESTARTED, "the workspace service restarts")
                return
            if isinstance(frame, bytes):
                await self.send(bytes_data=frame)
                continue
            if frame.get("type") == "closed":
                await self._leave(protocol.CLOSE_RESTARTED, str(frame.get("reason")))
                return
            await self.send(text_data=json.dumps(frame))
            if frame.get("type") == "exit":
                await self._leave(1000, "the shell ended")
                return

    async def _leave(self, code: int, reason: str) -> None:
        with contextlib.suppress(Exception):
            await self.close(code, reason)

    async def _look(self) -> None:
        """Ping, and notice a sign-out or the end of the run."""
        since_ping = 0.0
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            since_ping += LOOK_EVERY_S
            try:
                signed_in = await database_sync_to_async(check_session)(self.session_key, self.user_id)
                problem = await database_sync_to_async(self._problem_with_run)() if signed_in else None
            except Exception:
                logger.exception("a terminal's session could not be checked")
                continue
            if not signed_in:
                await self._leave(protocol.CLOSE_SIGN_IN, "signed out")
                return
            if problem is not None:
                await self._leave(problem.code, str(problem))
                return
            if since_ping >= protocol.PING_EVERY_S:
                since_ping = 0.0
                await self.send(text_data='{"type":"ping"}')
