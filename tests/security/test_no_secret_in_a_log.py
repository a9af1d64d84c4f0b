"""What people send in confidence stands in no log line, also where a view fails with it in hand.

The key of the model gateway has its own test, with its process: ``tests/gateway/test_gateway_process``.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.test import Client
from django.urls import reverse

from fdegym.accounts.models import User
from fdegym.lib.logs import FORMATTERS
from fdegym.runs.models import Run
from tests.security.knocking import Line, ticket_of

PASSWORD = "alice-has-a-long-password"
WRONG = "a-guess-that-somebody-typed"
MESSAGE = "Why did the bakery burn down in 1987?"
FILE_TEXT = "the text of a file of hers"


@pytest.fixture(params=sorted(FORMATTERS))
def log(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """Everything that any logger says, from DEBUG on, as our processes write it."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(FORMATTERS[request.param]())
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield written
    root.removeHandler(handler)
    root.setLevel(before)


def fails(*_of_what: Any, **_how: Any) -> Any:
    raise RuntimeError("the desk fell over")


def test_no_line_holds_a_password_a_session_a_message_or_a_file(
    log: io.StringIO, alice: User, runs_at_bakery: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fdegym.pages.workbench.workspace.touch", lambda run_id: None)
    for name in ("people.send_message", "workspace.put_file"):
        monkeypatch.setattr(f"fdegym.pages.workbench.{name}", fails)
    run = runs_at_bakery(alice)
    browser = Client(raise_request_exception=False)
    page = browser.get(reverse("account_login"))
    sign_in = reverse("account_login")
    browser.post(sign_in, {"login": "alice", "password": WRONG})
    browser.post(sign_in, {"login": WRONG, "password": WRONG})  # into the wrong field
    browser.post(sign_in, {"login": "alice", "password": PASSWORD})
    body = {"person": "ada", "text": MESSAGE, "id": "m-1"}
    failed = browser.post(f"/runs/{run.id}/messages/", body, content_type="application/json")
    save = {"path": "system/x", "action": "save", "text": FILE_TEXT}
    broken = browser.post(f"/runs/{run.id}/file/", save, content_type="application/json")
    assert (failed.status_code, broken.status_code) == (500, 500)
    session = browser.cookies["sessionid"].value
    said = log.getvalue()
    assert said.count("the desk fell over") >= 2  # the log was written to
    for secret in (PASSWORD, WRONG, session, MESSAGE, FILE_TEXT, page.cookies["csrftoken"].value):
        assert secret not in said


@pytest.mark.django_db(transaction=True)
async def test_no_line_holds_a_ticket(
    log: io.StringIO, alice: User, runs_at_bakery: Callable[..., Run], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stakeholders.consumers.services.conversation", fails)
    run = await database_sync_to_async(runs_at_bakery)(alice)
    await database_sync_to_async(client.force_login)(alice)
    ticket = await ticket_of(client, alice, "feed", run.id)
    line = await Line(f"/ws/runs/{run.id}/feed/", f"ticket={ticket}", client.cookies).open()
    assert await line.closed() == (1012, "try again in a moment")
    await line.leave()
    assert "the desk fell over" in log.getvalue()
    assert ticket not in log.getvalue()
    assert client.cookies["sessionid"].value not in log.getvalue()
