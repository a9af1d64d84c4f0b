"""The feed: what was said while away is there on return, in order, each item once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from channels.routing import URLRouter
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.urls import path

from fdegym.accounts.tickets import issue_ticket
from fdegym.runs import notify
from fdegym.runs.models import Run
from stakeholders import services
from stakeholders.consumers import ConversationConsumer
from stakeholders.exchange import Exchange

pytestmark = pytest.mark.django_db(transaction=True)
DOORS = "When do doors open?"


@database_sync_to_async
def signed_in(user: Any) -> Any:
    """A session as signing in makes it."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return session


class Viewer(ApplicationCommunicator):  # type: ignore[misc]
    """A browser that looks at the feed."""

    async def connect(self) -> None:
        await self.send_input({"type": "websocket.connect"})
        assert (await self.receive_output(timeout=60))["type"] == "websocket.accept"

    async def frame(self) -> dict[str, Any]:
        output = await self.receive_output(timeout=60)  # a loaded machine may take its time
        assert output["type"] == "websocket.send", output
        frame: dict[str, Any] = json.loads(output["text"])
        return frame

    async def close_code(self) -> int:
        output = await self.receive_output(timeout=60)
        assert output["type"] == "websocket.close", output
        return int(output["code"])

    async def leave(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        ended, _ = await asyncio.wait([self.future], timeout=60)
        assert ended, "the consumer goes on although its client is gone"
        self.future.result()


async def viewer(user: Any, run: Run, after: object = None, session: Any = None) -> Viewer:
    """Somebody's page at the run's feed: with a session, and the ticket that the page got, where they are signed in."""
    ticket = ""
    if user.is_authenticated:
        session = session or await signed_in(user)
        facts = {"socket": "feed", "run_id": run.id, "user": user, "session_key": session.session_key}
        ticket = await database_sync_to_async(issue_ticket)(**facts)
    application = URLRouter([path("ws/runs/<uuid:run_id>/feed/", ConversationConsumer.as_asgi())])
    scope = {
        "type": "websocket",
        "path": f"/ws/runs/{run.id}/feed/",
        "query_string": f"ticket={ticket}{'' if after is None else f'&after={after}'}".encode(),
        "headers": [],
        "subprotocols": [],
        "user": user,
        "session": session,
    }
    return Viewer(application, scope)


async def said(exchange: Exchange, client_id: str, text: str = DOORS) -> None:
    await database_sync_to_async(exchange.say)(client_id, "ada", text)


async def items_until(client: Viewer, count: int) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    while len(items) < count:
        frame = await client.frame()
        assert frame["type"] == "items"
        items += frame["items"]
    return items


@pytest.mark.backend
async def test_a_reply_given_while_away_is_there_on_return_with_the_same_text_fc_122(
    alice: Any, alices_run: Run, exchange: Exchange
) -> None:
    client = await viewer(alice, alices_run)
    await client.connect()
    first = await client.frame()
    assert (first["items"], first["state"], first["clock"]["words"]) == ([], "open", "Monday 5 October, 08:00")
    await client.leave()

    await said(exchange, "m-1")  # the reply comes while nobody looks

    again = await viewer(alice, alices_run, after=first["seq"])
    await again.connect()
    (item,) = await items_until(again, 1)
    await again.leave()
    (as_the_service_says,) = await database_sync_to_async(services.conversation)(alices_run.id)
    assert item == as_the_service_says
    assert item["answer"] == "Doors open at six."


async def test_a_burst_arrives_whole_and_in_order_even_with_every_hint_lost_fc_117(
    alice: Any, alices_run: Run, exchange: Exchange, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notify, "hint", lambda run_id: None)
    client = await viewer(alice, alices_run)
    await client.connect()

    def burst() -> None:
        for number in range(500):
            exchange.say(f"m-{number}", "di", f"Number {number}")

    sending = asyncio.create_task(database_sync_to_async(burst)())
    items = await items_until(client, 500)
    await sending
    assert [item["text"] for item in items] == [f"Number {number}" for number in range(500)]
    await client.leave()


@pytest.mark.backend
async def test_a_hint_shows_a_reply_at_once_and_a_reconnect_repeats_nothing(
    alice: Any, alices_run: Run, exchange: Exchange
) -> None:
    client = await viewer(alice, alices_run)
    await client.connect()
    await client.frame()
    await said(exchange, "m-1")
    frame = await client.frame()
    await said(exchange, "m-2")
    await client.leave()
    again = await viewer(alice, alices_run, after=frame["seq"])
    await again.connect()
    items = await items_until(again, 2)
    assert [(item["kind"], item["id"]) for item in items] == [("message", "m-2"), ("letter", "letter-1")]
    await again.leave()


@pytest.mark.parametrize("after", ["x", "-1", "99999999999999999999", "٣"])
async def test_a_nonsense_position_means_from_the_beginning(
    alice: Any, alices_run: Run, exchange: Exchange, after: str
) -> None:
    await said(exchange, "m-1")
    client = await viewer(alice, alices_run, after=after)
    await client.connect()
    assert len(await items_until(client, 1)) == 1
    await client.leave()


async def test_strangers_and_signed_out_people_are_shown_nothing(
    alices_run: Run, charlie: Any, make_run: Callable[..., Run]
) -> None:
    for user, code in ((charlie, 4404), (AnonymousUser(), 4401)):
        client = await viewer(user, alices_run)
        await client.connect()
        assert await client.close_code() == code
        await client.leave()
