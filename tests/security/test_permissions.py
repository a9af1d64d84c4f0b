"""Everybody at every route and socket: the table in ``rights`` is complete, and true. FC-44, FC-52."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from fdegym.accounts.models import User
from fdegym.lib.errors import ServiceUnavailable
from fdegym.runs.models import Run, RunEvent
from grading.models import Grade, Submission
from tests.security.conftest import address_arguments
from tests.security.knocking import Line, ticket_of
from tests.security.rights import PEOPLE, Row, routes, rows, sockets
from workspaces.keeper.client import TerminalStream

SEND = {"GET": Client.get, "POST": Client.post}


def test_every_route_and_every_socket_stands_in_the_table() -> None:
    there = {name for name, _ in (*routes(), *sockets())}
    assert {row.name for row in rows()} == there
    assert Counter((row.name, row.how) for row in rows()).most_common(1)[0][1] == 1


def test_every_route_that_takes_a_post_is_tried_with_one() -> None:
    """A view that says by itself which methods it takes is asked; others are tried with both."""
    tried = {(row.name, row.how) for row in rows()}
    for name, _pattern in routes():
        assert tried & {(name, "GET"), (name, "POST")}, name


def outcome(answer: Any) -> str:
    status = answer.status_code
    if status == 302 and answer.headers["Location"].startswith(reverse("account_login")):
        return "sign-in"
    if status in (401, 403, 404, 405) or (status >= 500 and status != ServiceUnavailable.http_status):
        return str(status)
    return "yes"


def everything() -> dict[type[Model], list[Any]]:
    """All that a request could change of people and runs."""
    return {
        User: list(User.objects.order_by("pk").values("pk", "username", "password", "email", "role", "is_active")),
        **{table: list(table.objects.order_by("pk").values()) for table in (Run, RunEvent, Submission, Grade)},  # type: ignore[attr-defined]
    }


def test_the_table_is_true_of_every_route(
    browsers: Callable[[str], Client], runs_of_alice: dict[str, Run], settings: Any
) -> None:
    """And nothing of people and runs is changed by it: by those let in, because what they send says nothing."""
    settings.SIGNUP = "open"
    known, before = {name: browsers(name) for name in PEOPLE}, everything()
    wrong = []
    for row in rows():
        if row.how == "SOCKET":
            continue
        of_a_run = address_arguments(row.name, "a run") == ["a run"]
        for run in runs_of_alice.values() if of_a_run else [runs_of_alice["open"]]:
            address = reverse(row.name, args=address_arguments(row.name, run.id))
            for name, expected in row.outcomes.items():
                browser = browsers(name) if row.name == "account_logout" else known[name]
                found = outcome(SEND[row.how](browser, address))
                if found != expected:
                    wrong.append(f"{row.how} {address} as {name}: {found}, not {expected}")
        if everything() != before:
            wrong.append(f"{row.how} {row.name} changed something")
            before = everything()
    assert wrong == []


def test_what_is_only_read_takes_no_post(browsers: Callable[[str], Client]) -> None:
    """What the table does not have as POST is refused as POST: by the method, or because nobody may come so far."""
    charlie = browsers("charlie")
    posts = {row.name for row in rows() if row.how == "POST"}
    # these answer the same to everything, and read nothing of it
    for row in rows():
        if row.how == "GET" and row.name not in posts | {"health", "account_inactive"}:
            address = reverse(row.name, args=address_arguments(row.name, "00000000-0000-4000-8000-000000000000"))
            assert charlie.post(address).status_code in (404, 405), row.name


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("row", [row for row in rows() if row.how == "SOCKET"], ids=lambda row: row.name)
async def test_at_this_socket(
    row: Row,
    people: dict[str, User | None],
    browsers: Callable[[str], Client],
    runs_of_alice: dict[str, Run],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a ticket that somebody issued them by mistake: the run is asked for once more."""

    async def is_let_in(*_where: Any, **_how: Any) -> Any:
        raise ServiceUnavailable("The keeper is away in this test.")

    monkeypatch.setattr(TerminalStream, "attach", is_let_in)
    run = runs_of_alice["open"]
    pattern = dict(sockets())[row.name].pattern
    path = "/" + str(pattern).replace("<uuid:run_id>", str(run.id)).replace("<int:number>", "1")
    kind = "terminal 1" if "terminals" in row.name else "feed"
    for name, expected in row.outcomes.items():
        browser = await database_sync_to_async(browsers)(name)
        user = people[name]
        ticket = await ticket_of(browser, user, kind, run.id) if user else "none"
        line = await Line(path, f"ticket={ticket}", browser.cookies).open()
        said = await line.says()
        # the feed says what it has; a terminal that would be attached meets an absent keeper
        found = "yes" if said.get("type") == "items" or said.get("closed") == 1012 else str(said["closed"])
        assert found == expected, f"{name} at {path}: {said}"
        await line.leave()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", [name for name, _ in sockets()])
async def test_no_socket_opens_without_a_ticket(
    name: str, alice: User, runs_of_alice: dict[str, Run], browsers: Callable[[str], Client]
) -> None:
    """Nor with one of another socket or run: a cookie that came along with a handshake is not enough."""
    run, other = runs_of_alice["open"], runs_of_alice["graded"]
    browser = await database_sync_to_async(browsers)("alice")
    path = "/" + str(dict(sockets())[name].pattern).replace("<uuid:run_id>", str(run.id)).replace("<int:number>", "1")
    mine = "terminal 1" if "terminals" in name else "feed"
    for kind, run_id in (("none", run.id), ("feed" if mine != "feed" else "terminal 1", run.id), (mine, other.id)):
        ticket = "" if kind == "none" else f"ticket={await ticket_of(browser, alice, kind, run_id)}"
        line = await Line(path, ticket, browser.cookies).open()
        assert (await line.closed())[0] == 4403
        await line.leave()
