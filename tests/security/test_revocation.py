"""Whoever loses access loses open sockets too, within seconds, in every tab: by a code and words of its own. FC-38."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.contrib.sessions.models import Session
from django.test import Client

from fdegym.accounts.models import Role, User
from fdegym.accounts.services import access_changed, erase_account
from tests.security.knocking import Line, ticket_of
from workspaces.keeper.client import TerminalStream

pytestmark = pytest.mark.django_db(transaction=True)


class QuietTerminal:
    """A keeper's side of a terminal at which nothing happens."""

    hello = {"type": "hello", "terminal": 1, "seq": 0, "columns": 80, "rows": 24, "role": "owner"}

    async def frame(self) -> None:
        await asyncio.Event().wait()

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    async def attach(*_where: Any, **_how: Any) -> QuietTerminal:
        return QuietTerminal()

    monkeypatch.setattr(TerminalStream, "attach", attach)
    for consumers in ("workspaces.consumers", "stakeholders.consumers"):
        monkeypatch.setattr(f"{consumers}.CHECK_EVERY_S", 0.05)


def signs_out(user: User, browser: Client) -> None:
    browser.post("/account/sign-out/")


def session_is_deleted(user: User, browser: Client) -> None:
    Session.objects.filter(pk=browser.cookies["sessionid"].value).delete()


def changes_the_password(user: User, browser: Client) -> None:
    new = "a-quiet-harbour-at-dusk"
    fields = {"oldpassword": "alice-has-a-long-password", "password1": new, "password2": new}
    assert browser.post("/account/password/", fields).status_code == 302


def has_the_password_changed_by_the_operator(user: User, browser: Client) -> None:
    user.set_password("a-quiet-harbour-at-dusk")
    user.save()


def is_switched_off(user: User, browser: Client) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def is_erased(user: User, browser: Client) -> None:
    erase_account(user)


def gets_another_role(user: User, browser: Client) -> None:
    User.objects.filter(pk=user.pk).update(role=Role.RESEARCHER)


def leaves_a_cohort(user: User, browser: Client) -> None:
    access_changed([user.pk])


CAUSES: dict[Callable[[User, Client], None], tuple[int, str]] = {
    signs_out: (4401, "signed out"),
    session_is_deleted: (4401, "signed out"),
    changes_the_password: (4401, "signed out"),  # the session that changed it goes on under another key
    has_the_password_changed_by_the_operator: (4401, "the password was changed"),
    is_switched_off: (4401, "this account is switched off"),
    is_erased: (4401, "this account is switched off"),
    gets_another_role: (4410, "what you may see here has changed; reload the page"),
    leaves_a_cohort: (4410, "what you may see here has changed; reload the page"),
}


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.__name__)
async def test_every_open_socket_ends_when_its_person(
    cause: Callable[[User, Client], None], alice: User, bob: User, make_run: Callable[..., Any], client: Client
) -> None:
    run, run_of_bob = await database_sync_to_async(lambda: (make_run(alice), make_run(bob)))()
    lines = []
    for person, their_run in ((alice, run), (bob, run_of_bob)):
        browser = Client() if person is bob else client
        await database_sync_to_async(browser.force_login)(person)
        for socket, address in (("feed", "feed"), ("terminal 1", "terminals/1")):
            ticket = await ticket_of(browser, person, socket, their_run.id)
            path = f"/ws/runs/{their_run.id}/{address}/"
            line = await Line(path, f"ticket={ticket}", browser.cookies.copy()).open()
            assert (await line.says())["type"] in ("items", "hello")
            lines.append(line)
    await database_sync_to_async(cause)(alice, client)
    for line in lines[:2]:
        assert await line.closed() == CAUSES[cause]
    for line in lines[2:]:
        assert await line.receive_nothing(timeout=0.3)  # nobody else's: looked at several times meanwhile
    for line in lines:
        await line.leave()


async def test_a_ticket_from_before_a_change_opens_nothing_after_it(
    alice: User, make_run: Callable[..., Any], client: Client
) -> None:
    run = await database_sync_to_async(make_run)(alice)
    await database_sync_to_async(client.force_login)(alice)
    ticket = await ticket_of(client, alice, "feed", run.id)
    await database_sync_to_async(gets_another_role)(alice, client)
    line = await Line(f"/ws/runs/{run.id}/feed/", f"ticket={ticket}", client.cookies).open()
    assert (await line.closed())[0] == 4410
    await line.leave()
