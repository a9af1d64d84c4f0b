"""However a run ends, the person is told how, what is kept and what counts; and every route tells the same (FC-125)."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from fdegym.runs import log
from grading.models import Grade, Submission
from tests.site.conftest import BAKERY


def page(browser, name, *args):
    answer = browser.get(reverse(name, args=args))
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("person", "Submitted"),
        ("deadline", "The customer&#x27;s deadline passed"),
        ("abandoned", "Given up"),
        ("expired", "The run&#x27;s time was over"),
    ],
)
def test_what_ended_a_run_is_told_while_it_is_graded(cause, words, alice, visit, submitted):
    """FC-125, FC-101: by the person or by the clock, what was handed in is told with its files and its hash."""
    run = submitted(alice)
    Submission.objects.filter(run=run).update(cause=cause)
    html = page(visit(alice), "grading", run.id)
    assert f"<dt>Cause</dt><dd>{words}</dd>" in html
    assert "3 files" in html
    assert "ab" * 32 in html


def test_that_a_deadline_grades_what_stood_then_is_said_beforehand(visit, db):
    """FC-101: the policy, where the rules of ranking stand."""
    assert "overtaken by the customer’s deadline, it is graded as it stood then" in page(visit(None), "method")


def test_a_deadline_that_passed_stands_in_the_debrief(alice, visit, graded):
    """FC-125."""
    run = graded(alice)
    log.append(run.id, "contact.deadline", {"at": "2026-10-09T17:00"})
    assert "The customer’s deadline passed" in page(visit(alice), "debrief", run.id)


def test_a_run_that_our_fault_ended_says_so_with_the_reason(alice, visit, submitted):
    """FC-125, FC-98."""
    run = submitted(alice, state="void", submission_state="void", void_reason="The sandbox was lost while grading.")
    html = page(visit(alice), "grading", run.id)
    assert "Void: our fault" in html
    assert "The sandbox was lost while grading." in html


def test_a_run_that_could_not_be_prepared_says_why_and_the_ranked_one_is_offered_again(alice, visit, runs_at_bakery):
    """FC-125, FC-71."""
    run = runs_at_bakery(alice, state="failed", state_reason="No sandbox can be made on this machine.")
    assert "No sandbox can be made on this machine." in page(visit(alice), "run", run.id)
    html = page(visit(alice), "scenario", BAKERY)
    assert "Begin the ranked run" in html
    assert "Begin another run" not in html


def test_every_route_shows_the_grade_that_counts_and_none_a_later_one(alice, bob, visit, graded):
    """FC-105: a regrade that came to more shows on no board, page or export, for nobody."""
    run = graded(alice, kpi=600.0)  # U = 300 / 660 = 0.454545, S = 0.424545
    later = Grade.objects.get(submission__run=run)
    later.pk, later.number, later.score, later.uplift, later.uplift_adjusted = None, 2, 7, 7, 7
    later.differs = True
    later._state.adding = True
    later.save()
    pages = [("leaderboard", ()), ("leaderboard-scenario", (BAKERY,)), ("scenario", (BAKERY,)), ("home", ())]
    own = [("runs", ()), ("profile", ()), ("debrief", (run.id,)), ("run-export", (run.id,))]
    own += [("profile-export-json", ()), ("profile-export-csv", ())]
    shown = 0
    for browser, names in ((visit(None), pages), (visit(bob), pages), (visit(alice), pages + own)):
        for name, args in names:
            text = page(browser, name, *args)
            assert not re.search(r"7\.00|\"7\"|,7,", text), name
            shown += "0.42" in text
    assert shown >= 8


def test_a_score_is_shown_on_no_route_before_the_run_is_graded(alice, bob, visit, submitted):
    """FC-105: the queue, our fault and their pages tell no figure, in whatever order the grade and the state are written."""
    run = submitted(alice)
    Grade.objects.create(
        submission=run.submission, number=1, scenario_release=run.release, grader_version="1", kpi=300.0,
        kpi_baseline=900.0, kpi_reference=240.0, uplift="0.777777", uplift_adjusted="0.777777", contact_cost=0,
        score="0.777777", resolved=False,
    )  # fmt: skip
    for person in (None, bob):
        for name, args in (("leaderboard", ()), ("leaderboard-scenario", (BAKERY,)), ("scenario", (BAKERY,))):
            assert "0.77" not in page(visit(person), name, *args)
    for name in ("runs", "profile", "profile-export-json", "profile-export-csv"):
        assert "0.777" not in page(visit(alice), name)
