"""The feed of a run: its conversation as it grows, each item once, in order, whatever was missed while away.

``ws/runs/<id>/feed/?after=N``. The server sends ``{"type": "items", "items": […], "seq": n, "clock": …, "state": …}``
first for everything after N and then whenever the log has grown; items are those of ``stakeholders.services.
conversation``. The log is the only source: a hint from the channel layer makes it quicker, its absence loses nothing.
What the client sends is ignored.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from fdegym.accounts.sessions import session_is_good
from fdegym.lib.errors import FdegymError
from fdegym.runs import log, notify
from fdegym.runs.access import get_run_for_user
from fdegym.runs.watch import watched
from stakeholders import services
from stakeholders.scripts import get_run

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 3.0  #: at its own run; that a log has grown is noticed for all feeds together (``runs.watch``)
CHECK_SESSION_EVERY_S = 3.0
SIGN_IN, NO_RUN = 4401, 4404  #: close codes


class ConversationConsumer(AsyncJsonWebsocketConsumer):
    """One viewer of one run's conversation."""

    async def connect(self) -> None:
        self._moved = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None
        self._run_id: uuid.UUID = self.scope["url_route"]["kwargs"]["run_id"]
        await self.accept()  # type: ignore[no-untyped-call]
        refusal = await self._refusal()
        if refusal is not None:
            await self.close(code=refusal)  # type: ignore[no-untyped-call]
            return
        given = parse_qs(self.scope.get("query_string", b"").decode(errors="replace")).get("after", ["0"])[0]
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
                if time.monotonic() - checked_at > CHECK_SESSION_EVERY_S:
                    checked_at = time.monotonic()
                    refusal = await self._refusal()
                    if refusal is not None:
                        await self.close(code=refusal)  # type: ignore[no-untyped-call]
                        return
                frame = await self._news(seen, after)
                if frame is not None:
                    await self.send_json(frame)  # type: ignore[no-untyped-call]
                    seen = after = max(after, frame["seq"])
            except FdegymError:
                logger.warning("the feed of run %s has nothing to show for now", self._run_id, exc_info=True)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):  # wait_for would lose a cancellation that comes with the event
                    await self._moved.wait()
            self._moved.clear()

    @database_sync_to_async
    def _news(self, seen: int, after: int) -> dict[str, Any] | None:
        """The frame to send, or None if the log has not grown since ``seen``."""
        events = log.events(self._run_id, after=max(seen, 0))
        if seen >= 0 and not events:
            return None
        return {
            "type": "items",
            "items": services.conversation(self._run_id, after),
            "seq": events[-1].seq if events else after,
            "clock": services.customer_clock(self._run_id),
            "state": get_run(self._run_id).state,
        }

    @database_sync_to_async
    def _refusal(self) -> int | None:
        """The close code if this person may not (or no longer) see the run."""
        user = self.scope.get("user")
        session = self.scope.get("session")
        if user is None or not user.is_authenticated:
            return SIGN_IN
        if session is not None and not session_is_good(session.session_key, str(user.pk)):
            return SIGN_IN
        try:
            get_run_for_user(user, self._run_id)
        except FdegymError:
            return NO_RUN
        return None
