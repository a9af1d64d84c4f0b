"""People of every role, alice's run, and a site whose other processes are away: what is tried here is who is let in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from fdegym.accounts.models import Role, User
from fdegym.lib.errors import ServiceUnavailable
from fdegym.operations.acts import ACTS
from tests.security.rights import PEOPLE
from tests.site.conftest import BAKERY, _the_bakery_is_on_offer, graded, runs_at_bakery, submitted

__all__ = ["_the_bakery_is_on_offer", "graded", "runs_at_bakery", "submitted"]


@pytest.fixture
def people(alice: User, bob: User, charlie: User) -> dict[str, User | None]:
    """Everybody of the table, by name."""
    found: dict[str, User | None] = {"anonymous": None, "alice": alice, "bob": bob, "charlie": charlie}
    for role in (Role.INSTRUCTOR, Role.RESEARCHER, Role.OPERATOR):
        found[str(role)] = User.objects.create_user(str(role), password=f"{role}-has-a-long-password", role=role)
    assert tuple(found) == PEOPLE
    return found


@pytest.fixture
def browsers(people: dict[str, User | None]) -> Iterator[Callable[[str], Client]]:
    """``browsers("bob")``: a fresh browser in which he is signed in. What goes wrong in a view is an answer here."""

    def open_one(name: str) -> Client:
        browser = Client(raise_request_exception=False)
        if (user := people[name]) is not None:
            browser.force_login(user)
        return browser

    return open_one


@pytest.fixture
def runs_of_alice(alice: User, runs_at_bakery: Callable[..., Any], graded: Callable[..., Any]) -> dict[str, Any]:
    return {"open": runs_at_bakery(alice), "graded": graded(alice)}


@pytest.fixture(autouse=True)
def _the_other_processes_are_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever is let in meets 503 there; nobody else may get so far."""

    def away(*_args: Any, **_kwargs: Any) -> Any:
        raise ServiceUnavailable("A part of the site is away in this test.")

    for place, names in {
        "workspace": (
            "touch",
            "workspace_state",
            "open_terminals",
            "list_directory",
            "read_beginning",
            "stop_workspace",
        ),
        "people": ("directory", "send_message", "wait", "read_inbox", "ask_trial", "trials_left"),
    }.items():
        for name in names:
            monkeypatch.setattr(f"fdegym.pages.workbench.{place}.{name}", away)
    used = ("ensure_world", "abandon_run", "submit_run", "delivery_survey", "progress_of", "far_ahead")
    for name in (*used, "go_on", "withdraw_run"):
        monkeypatch.setattr(f"fdegym.pages.workbench.{name}", away)
    monkeypatch.setattr("stakeholders.consumers.services.conversation", lambda run_id, after: [])
    monkeypatch.setattr("stakeholders.consumers.services.customer_clock", lambda run_id: None)
    monkeypatch.setattr("fdegym.pages.outcomes.abandon_run", away)
    monkeypatch.setattr("fdegym.pages.visiting.begin_run", away)


def address_arguments(name: str, run_id: Any) -> list[Any]:
    """What ``reverse`` needs for a route of the table."""
    if name in ("scenario", "scenario-begin", "leaderboard-scenario"):
        return [BAKERY]
    if name == "operations-act":
        return [next(iter(ACTS)), "nothing"]
    of_a_run = ("run", "grading", "debrief", "run-export", "run-give-up", "operations-run")
    return [run_id] if name in of_a_run or name.startswith("workbench_") else []
