"""The terminal's WebSocket: who may come in, what goes over it, and how it ends."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async as in_thread
from channels.routing import URLRouter
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command
from django.urls import path
from keeper_process import KeeperProcess

from fdegym.accounts.tickets import issue_ticket
from fdegym.runs.models import RunState
from workspaces import services
from workspaces.consumers import TerminalConsumer
from workspaces.materials import WorkspaceMaterials

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _cache_table(transactional_db: None) -> None:
    call_command("createcachetable", verbosity=0)


def signed_in(user: Any) -> SessionStore:
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.save()
    return session


class Browser(ApplicationCommunicator):  # type: ignore[misc]
    """A page's socket. ``open`` brings the ticket that the page would have got."""

    def __init__(self, run_id: Any, number: int, user: Any, session: Any, query: str) -> None:
        application = URLRouter([path("ws/runs/<uuid:run_id>/terminals/<int:number>/", TerminalConsumer.as_asgi())])
        scope = {
            "type": "websocket",
            "path": f"/ws/runs/{run_id}/terminals/{number}/",
            "query_string": query.encode(),
            "headers": [],
            "subprotocols": [],
            "user": user,
            "session": session,
        }
        super().__init__(application, scope)

    @classmethod
    async def open(
        cls, run: Any, user: Any, session: Any, *, number: int = 1, after: int | None = None, role: str = "owner"
    ) -> Browser:
        ticket = await in_thread(issue_ticket)(
            socket=f"terminal {number}", run_id=run.id, user=user, session_key=session.session_key, role=role
        )
        query = f"ticket={ticket}&columns=90&rows=30" + ("" if after is None else f"&after={after}")
        browser = cls(run.id, number, user, session, query)
        await browser.connect()
        return browser

    async def connect(self) -> None:
        await self.send_input({"type": "websocket.connect"})
        assert (await self.receive_output(timeout=20))["type"] == "websocket.accept"

    async def close_code(self, timeout_s: float = 20) -> int:
        while True:
            output = await self.receive_output(timeout=timeout_s)
            if output["type"] == "websocket.close":
                return int(output["code"])

    async def type(self, data: bytes) -> None:
        await self.send_input({"type": "websocket.receive", "bytes": data})

    async def say(self, **said: Any) -> None:
        await self.send_input({"type": "websocket.receive", "text": json.dumps(said)})

    async def text(self, kind: str) -> dict[str, Any]:
        while True:
            output = await self.receive_output(timeout=20)
            assert output["type"] == "websocket.send", output
            if output.get("text"):
                said: dict[str, Any] = json.loads(output["text"])
                if said["type"] == kind:
                    return said

    async def until(self, mark: bytes) -> bytes:
        seen = b""
        while mark not in seen:
            output = await self.receive_output(timeout=20)
            assert output["type"] == "websocket.send", output
            seen += output.get("bytes") or b""
        return seen

    async def leave(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1006})
        ended, _ = await asyncio.wait([self.future], timeout=60)
        assert ended, "the consumer goes on although its client is gone"
        self.future.result()


@pytest.fixture
def run_of_alice(keeper: KeeperProcess, alice: Any, make_run: Callable[..., Any], materials: WorkspaceMaterials) -> Any:
    run = make_run(alice)
    services.open_workspace(str(run.id), materials)
    return run


# who may come in


async def test_a_person_who_is_not_signed_in_is_told_to_sign_in(alice: Any, make_run: Callable[..., Any]) -> None:
    """FC-38."""
    run = await in_thread(make_run)(alice)
    browser = Browser(run.id, 1, AnonymousUser(), None, "ticket=x")
    await browser.connect()
    assert await browser.close_code() == 4401


async def test_a_stranger_a_guess_and_a_missing_run_look_the_same(
    alice: Any, charlie: Any, make_run: Callable[..., Any]
) -> None:
    """FC-44."""
    run = await in_thread(make_run)(alice)
    session = await in_thread(signed_in)(charlie)
    for target in (run.id, uuid.uuid4()):
        ticket = await in_thread(issue_ticket)(
            socket="terminal 1", run_id=target, user=charlie, session_key=session.session_key
        )
        browser = Browser(target, 1, charlie, session, f"ticket={ticket}")
        await browser.connect()
        assert await browser.close_code() == 4403


async def test_a_socket_needs_a_fresh_ticket_of_its_own(run_of_alice: Any, alice: Any) -> None:
    session = await in_thread(signed_in)(alice)
    ticket = await in_thread(issue_ticket)(
        socket="terminal 2", run_id=run_of_alice.id, user=alice, session_key=session.session_key
    )
    for query in ("", "ticket=guess", f"ticket={ticket}"):
        browser = Browser(run_of_alice.id, 1, alice, session, query)
        await browser.connect()
        assert await browser.close_code() == 4403, query


# what goes over it


@pytest.mark.backend
async def test_bytes_go_both_ways_and_a_reconnect_misses_none(run_of_alice: Any, alice: Any) -> None:
    """FC-1, FC-29."""
    session = await in_thread(signed_in)(alice)
    browser = await Browser.open(run_of_alice, alice, session)
    hello = await browser.text("hello")
    assert (hello["terminal"], hello["role"], hello["columns"], hello["rows"]) == (1, "owner", 90, 30)
    await browser.type(b"stty size; printf 'A\\xe2'; sleep 0.3; printf '\\x94\\x80B'; echo re''ady\n")
    seen = await browser.until(b"ready")
    assert b"30 90" in seen
    assert "A─B".encode() in seen
    seq = hello["seq"] + len(seen)
    await browser.leave()
    again = await Browser.open(run_of_alice, alice, session, after=seq)
    assert (await again.text("hello"))["seq"] == seq
    await again.type(b"echo se''cond\n")
    assert b"ready" not in await again.until(b"second")
    await again.leave()


async def test_an_observer_sees_and_cannot_act(run_of_alice: Any, alice: Any) -> None:
    session = await in_thread(signed_in)(alice)
    owner = await Browser.open(run_of_alice, alice, session)
    await owner.text("hello")
    observer = await Browser.open(run_of_alice, alice, session, role="observer")
    assert (await observer.text("hello"))["role"] == "observer"
    await observer.type(b"echo ev''il\n")
    await owner.type(b"echo hel''lo\n")
    assert b"evil" not in await observer.until(b"hello\r\n")
    for browser in (owner, observer):
        await browser.leave()


async def test_absurd_frames_do_no_harm(run_of_alice: Any, alice: Any) -> None:
    """FC-21, FC-23, FC-24."""
    session = await in_thread(signed_in)(alice)
    browser = await Browser.open(run_of_alice, alice, session)
    await browser.text("hello")
    await browser.say(type="size", columns=0, rows=0)
    await browser.say(type="size", columns="80", rows=None)
    await browser.say(type="ack", seq=-5)
    await browser.send_input({"type": "websocket.receive", "text": "{not json"})
    for columns in range(200, 99, -1):
        await browser.say(type="size", columns=columns, rows=40)
    await browser.type(b"stty size; echo d''one\n")
    assert b"40 100" in await browser.until(b"done")
    await browser.leave()


async def test_a_shell_that_ended_closes_the_socket_with_its_status(run_of_alice: Any, alice: Any) -> None:
    session = await in_thread(signed_in)(alice)
    browser = await Browser.open(run_of_alice, alice, session)
    await browser.type(b"exit 5\n")
    assert (await browser.text("exit"))["status"] == 5
    assert await browser.close_code() == 1000


# how it ends


@pytest.mark.backend
async def test_signing_out_closes_the_terminal(run_of_alice: Any, alice: Any) -> None:
    """FC-38."""
    session = await in_thread(signed_in)(alice)
    browser = await Browser.open(run_of_alice, alice, session)
    await browser.text("hello")
    await in_thread(session.flush)()
    assert await browser.close_code() == 4401


async def test_a_changed_password_closes_the_terminal(run_of_alice: Any, alice: Any) -> None:
    session = await in_thread(signed_in)(alice)
    browser = await Browser.open(run_of_alice, alice, session)
    await browser.text("hello")
    alice.set_password("another one, quite long")
    await in_thread(alice.save)()
    assert await browser.close_code() == 4401


async def test_the_end_of_the_run_closes_the_terminal(run_of_alice: Any, alice: Any) -> None:
    session = await in_thread(signed_in)(alice)
    browser = await Browser.open(run_of_alice, alice, session)
    await browser.text("hello")
    run_of_alice.state = RunState.SUBMITTED
    await in_thread(run_of_alice.save)()
    assert await browser.close_code() == 4409
    late = await Browser.open(run_of_alice, alice, session)
    assert await late.close_code() == 4409


async def test_too_many_shells_are_refused_by_their_own_code(run_of_alice: Any, alice: Any) -> None:
    """FC-54."""
    session = await in_thread(signed_in)(alice)
    for number in range(1, 9):
        browser = await Browser.open(run_of_alice, alice, session, number=number)
        await browser.text("hello")
        await browser.leave()
    browser = await Browser.open(run_of_alice, alice, session, number=9)
    assert await browser.close_code() == 4429


async def test_a_killed_keeper_is_a_restart_and_the_shell_is_there_again(
    run_of_alice: Any, alice: Any, keeper: KeeperProcess
) -> None:
    """FC-62."""
    session = await in_thread(signed_in)(alice)
    browser = await Browser.open(run_of_alice, alice, session)
    await browser.text("hello")
    await browser.type(b"X=kept; echo re''ady\n")
    await browser.until(b"ready")
    await asyncio.to_thread(keeper.end)
    assert await browser.close_code() == 1012
    refused = await Browser.open(run_of_alice, alice, session)
    assert await refused.close_code() == 1012
    await asyncio.to_thread(keeper.start)
    again = await Browser.open(run_of_alice, alice, session)
    await again.type(b"echo [$X]\n")
    await again.until(b"[kept]")
    await again.leave()


async def test_fifty_abrupt_ends_leave_no_task_behind(run_of_alice: Any, alice: Any) -> None:
    """FC-120."""
    session = await in_thread(signed_in)(alice)
    first = await Browser.open(run_of_alice, alice, session)
    await first.type(b"while sleep 0.01; do echo tick; done\n")
    await first.until(b"tick")
    before = len(asyncio.all_tasks())
    for _ in range(50):
        browser = await Browser.open(run_of_alice, alice, session)
        await browser.text("hello")
        await browser.leave()
    await asyncio.sleep(0.1)
    assert len(asyncio.all_tasks()) <= before + 1
    await first.leave()


# tickets and time


async def test_an_old_ticket_opens_nothing_and_an_open_terminal_needs_none(
    run_of_alice: Any, alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FC-40: a terminal outlives the ticket it was opened with; the page asks for a new one to come back."""
    monkeypatch.setattr("fdegym.accounts.tickets.LIFETIME_S", 1)
    session = await in_thread(signed_in)(alice)
    browser = await Browser.open(run_of_alice, alice, session)
    await browser.text("hello")
    unused = await in_thread(issue_ticket)(
        socket="terminal 1", run_id=run_of_alice.id, user=alice, session_key=session.session_key
    )
    await asyncio.sleep(2.1)
    await browser.type(b"echo still''-here\n")
    await browser.until(b"still-here")
    late = Browser(run_of_alice.id, 1, alice, session, f"ticket={unused}")
    await late.connect()
    assert await late.close_code() == 4403
    monkeypatch.setattr("fdegym.accounts.tickets.LIFETIME_S", 30)
    again = await Browser.open(run_of_alice, alice, session)
    await again.text("hello")
    for each in (browser, again):
        await each.leave()


async def test_a_deleted_run_looks_like_none(alice: Any, make_run: Callable[..., Any]) -> None:
    """FC-44."""
    run = await in_thread(make_run)(alice)
    session = await in_thread(signed_in)(alice)
    ticket = await in_thread(issue_ticket)(
        socket="terminal 1", run_id=run.id, user=alice, session_key=session.session_key
    )
    run_id = run.id
    await in_thread(run.delete)()
    browser = Browser(run_id, 1, alice, session, f"ticket={ticket}")
    await browser.connect()
    assert await browser.close_code() == 4403
