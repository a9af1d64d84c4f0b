"""The feed of a run: its conversation as it grows, each item once, in order, whatever was missed while away.

``ws/runs/<id>/feed/?ticket=T&after=N``, with a ticket that ``POST /runs/<id>/feed/ticket/`` gives. The server sends
``{"type": "items", "items": […], "seq": n, "clock": …, "state": …}`` first for everything after N and then whenever the
log has grown; items are those of ``stakeholders.services.conversation``. The log is the only source: a hint from the
channel layer makes it quicker, its absence loses nothing. What the client sends is ignored.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from fdegym.accounts.models import User
from fdegym.accounts.sockets import CHECK_EVERY_S, TRY_AGAIN, SocketRefused, Visitor, admit, query_of
from fdegym.lib.errors import FdegymError
from fdegym.runs import log, notify
from fdegym.runs.access import get_run_for_user
from fdegym.runs.watch import watched
from stakeholders import services
from stakeholders.scripts import get_run

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 3.0  #: at its own run; that a log has grown is noticed for all feeds together (``runs.watch``)
NO_RUN = 4404  #: close code: not, or no longer, this person's run


class ConversationConsumer(AsyncJsonWebsocketConsumer):
    """One viewer of one run's conversation."""

    async def connect(self) -> None:
        self._moved = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._run_id: uuid.UUID = self.scope["url_route"]["kwargs"]["run_id"]
        await self.accept()  # type: ignore[no-untyped-call]
        try:
            self._visitor = await self._admit()
        except SocketRefused as refused:
            await self._refuse(refused)
            return
        given = query_of(self.scope).get("after", "0")
        after = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0
        if self.channel_layer is not None:
            await self.channel_layer.group_add(notify.group(self._run_id), self.channel_name)
        self._pump = asyncio.create_task(self._follow(after))

    async def disconnect(self, code: int) -> None:
        if self._pump is not None:
            self._pump.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self._pump
        if self.channel_layer is not None:
            await self.channel_layer.group_discard(notify.group(self._run_id), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any) -> None:
        """Nothing is said through the feed."""

    async def log_moved(self, event: dict[str, Any]) -> None:
        self._moved.set()

    async def _follow(self, after: int) -> None:
        with watched(self._run_id, self._moved):
            await self._send_what_comes(after)

    async def _send_what_comes(self, after: int) -> None:
        seen, checked_at = -1, time.monotonic()
        while True:
            try:
                if time.monotonic() - checked_at > CHECK_EVERY_S:
                    checked_at = time.monotonic()
                    await self._check()
                frame = await self._news(seen, after)
                if frame is not None:
                    await self.send_json(frame)  # type: ignore[no-untyped-call]
                    seen = after = max(after, frame["seq"])
            except SocketRefused as refused:
                await self._refuse(refused)
                return
            except OSError:  # the browser left while something was sent
                return
            except FdegymError:
                logger.warning("the feed of run %s has nothing to show for now", self._run_id, exc_info=True)
            except Exception:  # a database that is away, say: the page comes back and goes on where it was
                logger.exception("the feed of run %s broke off", self._run_id)
                await self._refuse(SocketRefused(TRY_AGAIN, "try again in a moment"))
                return
            with contextlib.suppress(TimeoutError):
                # wait_for would lose a cancellation that comes with the event
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._moved.wait()
            self._moved.clear()

    @database_sync_to_async
    def _news(self, seen: int, after: int) -> dict[str, Any] | None:
        """The frame to send, or None if the log has not grown since ``seen``."""
        events = log.events(self._run_id, after=max(seen, 0))
        if seen >= 0 and not events:
            return None
        items = services.conversation(self._run_id, after)
        # the log may have grown since it was read: what is shown already must not come again
        newest = max([after, *(event.seq for event in events[-1:]), *(item["seq"] for item in items[-1:])])
        return {
            "type": "items",
            "items": items,
            "seq": newest,
            "clock": services.customer_clock(self._run_id),
            "state": get_run(self._run_id).state,
        }

    @database_sync_to_async
    def _admit(self) -> Visitor:
        visitor = admit(self.scope, socket="feed", run_id=self._run_id)
        self._check_run(visitor)
        return visitor

    @database_sync_to_async
    def _check(self) -> None:
        self._visitor.check()
        self._check_run(self._visitor)

    def _check_run(self, visitor: Visitor) -> None:
        try:
            get_run_for_user(User.objects.filter(pk=visitor.user_id).first(), self._run_id)
        except FdegymError as missing:
            raise SocketRefused(NO_RUN, "no such run for you") from missing

    async def _refuse(self, refused: SocketRefused) -> None:
        await self.close(code=refused.code, reason=str(refused))  # type: ignore[no-untyped-call]
