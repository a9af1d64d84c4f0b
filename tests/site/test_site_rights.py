"""Who may open what. Every address of the site is in one of the lists below, or the first test fails."""

from __future__ import annotations

import uuid

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse

OPEN_TO_ALL = {
    "home": (),
    "scenarios": (),
    "scenario": ("bakery_orders",),
    "method": (),
    "help": (),
    "leaderboard": (),
    "leaderboard-scenario": ("bakery_orders",),
    "account_login": (),
    "account_signup": (),
    "account_inactive": (),
}
FOR_ACCOUNTS = {
    "runs",
    "profile",
    "profile-export-json",
    "profile-export-csv",
    "profile-erase",
    "account_change_password",
}
OF_A_RUN = {"grading", "debrief", "run-give-up", "run-export"}
#: ``tests/operations`` tries them.
FOR_OPERATORS = {
    *("operations", "operations-runs", "operations-run", "operations-queues", "operations-hosts"),
    *("operations-log", "operations-act"),
}
BY_POST_ALONE = {"scenario-begin": ("bakery_orders",), "theme": ()}
SIGNING_OUT = {"account_logout"}
FOR_MACHINES = {"health", "ready", "metrics"}


def names_of_all_addresses():
    names, waiting = set(), list(get_resolver().url_patterns)
    while waiting:
        pattern = waiting.pop()
        if isinstance(pattern, URLResolver):
            waiting.extend(pattern.url_patterns)
        elif isinstance(pattern, URLPattern):
            names.add(pattern.name)
    return names


def is_the_workbenchs(name):
    return name == "run" or str(name).startswith("workbench")


def test_every_address_is_covered_here():
    listed = {*OPEN_TO_ALL, *FOR_ACCOUNTS, *OF_A_RUN, *BY_POST_ALONE, *SIGNING_OUT, *FOR_MACHINES, *FOR_OPERATORS}
    assert {name for name in names_of_all_addresses() if not is_the_workbenchs(name)} == listed


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(OPEN_TO_ALL))
def test_a_stranger_may_read(name, visit):
    assert visit(None).get(reverse(name, args=OPEN_TO_ALL[name])).status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(FOR_ACCOUNTS))
def test_a_stranger_is_asked_to_sign_in_for(name, visit):
    answer = visit(None).get(reverse(name))
    assert answer.headers["Location"].startswith(reverse("account_login"))


@pytest.mark.parametrize("name", sorted(FOR_ACCOUNTS))
def test_an_account_may_open(name, alice, visit):
    assert visit(alice).get(reverse(name)).status_code == 200


@pytest.mark.parametrize("state", ["open", "submitted", "graded", "void"])
@pytest.mark.parametrize("name", sorted(OF_A_RUN))
def test_charlie_finds_nothing_of_alices_run(name, state, alice, charlie, visit, graded, submitted, runs_at_bakery):
    """FC-44: whatever the run's state, the answer is that of a run that does not exist."""
    make = {"graded": graded, "open": runs_at_bakery}.get(state)
    run = make(alice) if make else submitted(alice, state=state)
    browser = visit(charlie)
    for method in (browser.get, browser.post):
        real = method(reverse(name, args=[run.id]))
        none = method(reverse(name, args=[uuid.uuid4()]))
        assert real.status_code == none.status_code
        assert real.status_code in (404, 405)
        assert normal(real) == normal(none)


def normal(answer):
    """The page without what differs on every request."""
    text = answer.content.decode()
    for word in text.split('nonce="')[1:]:
        text = text.replace(word.split('"')[0], "")
    lines = (line for line in text.splitlines() if "csrfmiddlewaretoken" not in line and 'name="next"' not in line)
    return "\n".join(lines)


@pytest.mark.parametrize("name", sorted(OF_A_RUN))
def test_a_stranger_is_asked_to_sign_in_for_a_run(name, alice, visit, graded):
    answer = visit(None).get(reverse(name, args=[graded(alice).id]))
    assert answer.headers["Location"].startswith(reverse("account_login"))


@pytest.mark.parametrize("name", sorted(BY_POST_ALONE))
def test_a_link_alone_does_nothing(name, alice, visit):
    assert visit(alice).get(reverse(name, args=BY_POST_ALONE[name])).status_code == 405


@pytest.mark.django_db
def test_a_stranger_begins_nothing(visit):
    from fdegym.runs.models import Run

    answer = visit(None).post(reverse("scenario-begin", args=["bakery_orders"]), {"level": "L3"})
    assert answer.headers["Location"].startswith(reverse("account_login"))
    assert not Run.objects.exists()


def test_forms_without_their_token_are_refused_in_words(alice):
    from django.test import Client

    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    answer = browser.post(reverse("scenario-begin", args=["bakery_orders"]), {"level": "L3"})
    assert answer.status_code == 403
    assert "Nothing was changed" in answer.content.decode()


def test_a_session_that_was_switched_off_opens_nothing(alice, visit, graded):
    run = graded(alice)
    browser = visit(alice)
    alice.is_active = False
    alice.save()
    assert browser.get(reverse("debrief", args=[run.id])).status_code == 302
