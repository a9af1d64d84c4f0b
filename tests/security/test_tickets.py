"""One-time tickets: once, soon, and for one thing only. FC-44, FC-49."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from fdegym.accounts import tickets
from fdegym.accounts.models import User
from fdegym.accounts.tickets import TicketRefused, issue_ticket, redeem_ticket


@pytest.fixture
def facts(alice: User) -> dict[str, Any]:
    return {"socket": "terminal 1", "run_id": "r", "user": alice, "session_key": "s"}


def test_a_ticket_is_good_once_and_tells_what_it_was_made_for(facts: dict[str, Any]) -> None:
    value = issue_ticket(**facts, role="observer")
    ticket = redeem_ticket(value, **facts)
    assert (ticket.role, ticket.rights) == ("observer", "learner 0")
    with pytest.raises(TicketRefused, match="used or is too old"):
        redeem_ticket(value, **facts)


@pytest.mark.parametrize(
    "other",
    [{"run_id": "q"}, {"socket": "terminal 2"}, {"socket": "feed"}, {"session_key": "t"}, {"user": None}],
    ids=str,
)
def test_a_ticket_shown_for_something_else_opens_nothing_and_is_used_up(
    facts: dict[str, Any], other: dict[str, Any], bob: User
) -> None:
    value = issue_ticket(**facts)
    with pytest.raises(TicketRefused, match="something else"):
        redeem_ticket(value, **(facts | ({"user": bob} if "user" in other else other)))
    with pytest.raises(TicketRefused, match="used"):
        redeem_ticket(value, **facts)


@pytest.mark.parametrize("value", ["", "guess", "x" * 101, "x" * 100_000])
def test_what_was_never_issued_opens_nothing(facts: dict[str, Any], value: str) -> None:
    with pytest.raises(TicketRefused):
        redeem_ticket(value, **facts)


def test_a_ticket_grows_old(facts: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tickets, "LIFETIME_S", -1)  # to every cache: over already
    value = issue_ticket(**facts)
    with pytest.raises(TicketRefused, match="too old"):
        redeem_ticket(value, **facts)


@pytest.mark.django_db(transaction=True)
def test_of_several_redemptions_at_once_one_wins(facts: dict[str, Any]) -> None:
    def redeem(value: str) -> bool:
        try:
            redeem_ticket(value, **facts)
        except TicketRefused:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            assert sum(pool.map(redeem, [issue_ticket(**facts)] * 4)) == 1


def test_tickets_tell_nothing_about_each_other_or_their_socket(facts: dict[str, Any]) -> None:
    """FC-49: each is 256 random bits, also for the same person, run and terminal."""
    made = [issue_ticket(**facts) for _ in range(200)]
    assert all(len(base64.urlsafe_b64decode(ticket + "=")) == 32 for ticket in made)
    for place in range(42):  # at every place many different characters: nothing is counted up or derived
        assert len({ticket[place] for ticket in made}) > 20
