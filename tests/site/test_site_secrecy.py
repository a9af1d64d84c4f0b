"""Nothing that a player sees before the debrief carries a task's name, its angle, or what differs."""

from __future__ import annotations

import pytest
from django.urls import reverse

from tests.site.conftest import BAKERY, OTHER_TASK

#: Words that only the facts file knows; "original" is a task's name too.
SECRET = (OTHER_TASK, "frozen dough", "authority", "night lead is gone", "night_lead_decides", "task_id", "original")

EVERYBODY = (
    ("home", ()),
    ("scenarios", ()),
    ("scenario", (BAKERY,)),
    ("leaderboard", ()),
    ("leaderboard-scenario", (BAKERY,)),
    ("method", ()),
    ("help", ()),
)
OWN = (("runs", ()), ("profile", ()), ("profile-erase", ()), ("profile-export-json", ()), ("profile-export-csv", ()))


def assert_silent(answer):
    text = answer.content.decode().lower() + str(answer.headers).lower()
    told = [word for word in SECRET if word in text]
    assert not told, f"{answer.request['PATH_INFO']} tells {told}"


@pytest.mark.parametrize("task", [OTHER_TASK, "original"])
@pytest.mark.parametrize("state", ["open", "preparing", "submitted", "void"])
def test_no_page_or_file_tells_the_task_before_the_debrief(alice, visit, runs_at_bakery, submitted, state, task):
    make = submitted if state in ("submitted", "void") else runs_at_bakery
    run = make(alice, state=state, task_id=task)
    browser = visit(alice)
    for name, args in EVERYBODY + OWN:
        assert_silent(browser.get(reverse(name, args=args)))
    for name in ("grading", "debrief", "run-give-up", "run-export"):
        assert_silent(browser.get(reverse(name, args=[run.id])))
    assert_silent(browser.get(reverse("grading", args=[run.id]), HTTP_HX_REQUEST="true"))


def test_other_peoples_debriefs_tell_nobody_the_task_either(alice, bob, visit, graded):
    graded(alice, task_id=OTHER_TASK)
    for name, args in EVERYBODY:
        assert_silent(visit(bob).get(reverse(name, args=args)))


def test_lists_and_exports_of_graded_runs_do_not_name_tasks(alice, visit, graded):
    """The debrief is the one place: a list is looked at over shoulders."""
    graded(alice, task_id=OTHER_TASK)
    for name, args in OWN:
        assert_silent(visit(alice).get(reverse(name, args=args)))
