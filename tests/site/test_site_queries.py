"""How often pages ask the database: as often with many people and runs as with few."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from fdegym.accounts.models import User
from tests.site.conftest import BAKERY


@pytest.fixture
def queries(visit, alice, graded):
    """``queries()``: page → how often alice's browser makes it ask the database, once everything was looked at before."""
    run = graded(alice)
    pages = {
        "leaderboard": reverse("leaderboard"),
        "leaderboard, best of all runs": reverse("leaderboard") + "?view=best",
        "leaderboard of a scenario": reverse("leaderboard-scenario", args=[BAKERY]),
        "scenarios": reverse("scenarios"),
        "scenario": reverse("scenario", args=[BAKERY]),
        "my runs": reverse("runs"),
        "debrief": reverse("debrief", args=[run.id]),
    }
    browser = visit(alice)

    def count():
        found = {}
        for what, address in pages.items():
            browser.get(address)
            with CaptureQueriesContext(connection) as asked:
                assert browser.get(address).status_code == 200
            found[what] = len(asked)
        return found

    return count


def test_no_page_asks_the_database_more_often_when_there_are_more_people_and_runs(queries, graded, alice):
    """FC-107."""
    for number in range(3):
        graded(User.objects.create(username=f"early-{number}"))
    before = queries()
    for number in range(40):
        person = User.objects.create(username=f"late-{number}", on_leaderboard=number % 5 > 0)
        graded(person)
        graded(person, kpi=500.0)
    for _ in range(5):
        graded(alice)
    assert queries() == before


def test_a_hidden_person_leaves_every_board_at_once_and_comes_back(visit, graded, bob):
    """FC-107: what is kept in memory hides nobody too late."""
    graded(bob)
    boards = [
        reverse("leaderboard"),
        reverse("leaderboard") + "?view=best",
        reverse("leaderboard-scenario", args=[BAKERY]),
    ]
    for shown in (True, False, True):
        User.objects.filter(pk=bob.pk).update(on_leaderboard=shown)
        assert [bob.username in visit(None).get(board).content.decode() for board in boards] == [shown] * 3


def test_a_grade_that_was_committed_late_and_a_run_that_is_removed_are_noticed(visit, graded, alice, bob, charlie):
    """Ids are given in another order than transactions end: a lower one may appear later."""
    from grading.models import Grade

    board = reverse("leaderboard-scenario", args=[BAKERY])

    def names():
        html = visit(None).get(board).content.decode()
        return {person.username for person in (alice, bob, charlie) if f">{person.username}<" in html}

    graded(alice)
    second = Grade.objects.get(submission__run=graded(bob))
    Grade.objects.filter(id=second.id).update(id=second.id + 10)
    assert names() == {"alice", "bob"}
    late = graded(charlie)
    Grade.objects.filter(submission__run=late).update(id=second.id + 5)
    assert names() == {"alice", "bob", "charlie"}
    late.delete()
    assert names() == {"alice", "bob"}
