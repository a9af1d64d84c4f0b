"""What the table of rights (``tests/security``) cannot say: a refusal looks like nothing, and forms need their token."""

from __future__ import annotations

import uuid

import pytest
from django.urls import reverse

OF_A_RUN = ("grading", "debrief", "run-give-up", "run-export")


@pytest.mark.parametrize("state", ["open", "submitted", "graded", "void"])
@pytest.mark.parametrize("name", OF_A_RUN)
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
