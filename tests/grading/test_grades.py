"""What a grade says: the run's conversation held against the replay, and regrades that replace nothing."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from fdegym.runs import log
from grading.models import Grade, GradeUnalterable, SubmissionState
from grading.replay import ReplayVoid
from grading.services import current_grade, grade_submission, regrade
from scenarios.kit.load import load_scenario
from scenarios.kit.world import IncidentFound
from tests.grading.sides import TINY

pytestmark = pytest.mark.django_db(transaction=True)

CHANGED = IncidentFound("changed_unasked", "10 evenings differ", 10)
LETTER = IncidentFound("letter_to_stranger", "to Mr Finch", 1)


def said(person="ada", charge="0.01", **payload):
    return (
        "contact.message",
        {"person": person, "charge": charge, "facts": [], "grants": [], "incident": None, **payload},
    )


def test_contacts_are_taken_off_and_facts_told_are_marked(submit, alice, replays):
    replays(10.0)
    grade = grade_submission(submit(alice, events=[said(facts=["F1"]), said(charge="0.0175")]))
    assert str(grade.contact_cost) == "0.027500"
    assert str(grade.score) == "0.972500"
    assert grade.resolved
    assert grade.key_facts == [
        {
            "id": "F1",
            "title": "Returned goods",
            "text": "Returned goods are taken off the day's total.",
            "released": True,
            "visible_in": ["docs/book.md"],
        }
    ]
    assert grade.contacts["people"] == {"ada": {"contacts": 2, "cost": "0.0275"}}


def test_a_key_fact_nobody_told_is_not_released(submit, alice, replays):
    replays(10.0)
    assert grade_submission(submit(alice)).key_facts[0]["released"] is False


def test_a_change_without_leave_is_an_incident(submit, alice, replays):
    replays(10.0, incidents=[CHANGED])
    grade = grade_submission(submit(alice))
    assert [row["id"] for row in grade.incidents] == ["changed_unasked"]
    assert grade.incidents[0]["title"] == "Totals changed without leave"
    assert (str(grade.uplift), str(grade.uplift_adjusted)) == ("1.000000", "0.000000")
    assert not grade.resolved


def test_a_change_with_leave_is_none_and_the_grade_says_which_leave(submit, alice, replays):
    replays(10.0, incidents=[CHANGED])
    grade = grade_submission(submit(alice, events=[said(grants=["approval:totals"])]))
    assert grade.incidents == []
    assert grade.permitted[0]["granted"] == "approval:totals"
    assert str(grade.score) == "0.990000"


def test_leave_given_does_not_excuse_another_incident(submit, alice, replays):
    replays(10.0, incidents=[CHANGED, LETTER])
    grade = grade_submission(submit(alice, events=[said(grants=["approval:totals"])]))
    assert [row["id"] for row in grade.incidents] == ["letter_to_stranger"]


def test_leave_that_came_after_the_submission_is_too_late(submit, alice, replays):
    replays(10.0, incidents=[CHANGED])
    submission = submit(alice)
    log.append(submission.run_id, *said(grants=["approval:totals"], charge="5"))
    grade = grade_submission(submission)
    assert grade.incidents
    assert grade.contact_cost == 0


def test_an_incident_of_the_conversation_counts_like_one_of_the_replay(submit, alice, replays):
    replays(10.0)
    grade = grade_submission(submit(alice, events=[said(person="finch", incident="letter_to_stranger")]))
    assert [(row["id"], row["source"], row["count"]) for row in grade.incidents] == [
        ("letter_to_stranger", "contact", 1)
    ]
    assert str(grade.score) == "-0.010000"


def test_a_grade_names_what_made_it(submit, alice, replays):
    replays(5.0)
    grade = grade_submission(submit(alice))
    assert grade.scenario_release == load_scenario(TINY).release
    assert grade.salt_fingerprint == ""
    assert "+" in grade.grader_version
    assert {"package", "python", "sqlite", "sandbox", "limits", "world"} <= set(grade.environment)
    assert grade.environment["begun_with_release"] == "0" * 64  # the test's run began with another release


def test_the_log_says_that_a_grade_was_added_and_its_chain_holds(submit, alice, replays):
    replays(5.0)
    grade = grade_submission(submit(alice))
    added = log.events(grade.run.id, kinds=["grade.added"])
    assert [event.payload["score"] for event in added] == ["0.500000"]
    assert log.first_broken_link(grade.run) is None


def test_a_regrade_adds_the_same_figures(submit, alice, replays):
    replays(5.0)
    submission = submit(alice)
    first = grade_submission(submission)
    again = regrade(submission)
    assert again.number == 2
    assert (again.kpi, again.score, again.differs) == (first.kpi, first.score, False)
    assert first.reproducible
    assert current_grade(submission.run) == first


def test_a_random_delivery_is_marked_and_its_first_grade_goes_on_counting(submit, alice, replays):
    """FC-99"""
    replays(5.0, 9.0, 5.0)
    submission = submit(alice)
    first = grade_submission(submission)
    assert regrade(submission).differs
    assert not regrade(submission).differs
    assert not first.reproducible
    assert current_grade(submission.run) == first
    assert [grade.kpi for grade in Grade.objects.all()] == [5.0, 9.0, 5.0]


def test_a_grade_is_never_changed(submit, alice, replays):
    replays(5.0)
    grade = grade_submission(submit(alice))
    grade.score = 1
    with pytest.raises(GradeUnalterable):
        grade.save()


def test_a_sealed_system_that_was_altered_is_not_graded(submit, alice, replays):
    replayed = replays(5.0)
    submission = submit(alice)
    with submission.sealed.open("ab") as stream:
        stream.write(b"more")
    assert grade_submission(submission) is None
    submission.refresh_from_db()
    assert submission.state == SubmissionState.VOID
    assert "no longer what was submitted" in submission.void_reason
    assert replayed == []


def test_a_failed_regrade_adds_nothing(submit, alice, replays):
    replays(5.0, ReplayVoid("The grading machine was overloaded.", retry=True))
    submission = submit(alice)
    grade_submission(submission)
    with pytest.raises(ReplayVoid):
        regrade(submission)
    submission.refresh_from_db()
    assert submission.state == SubmissionState.GRADED
    assert Grade.objects.count() == 1


def test_the_regrade_command_says_what_came_of_it(submit, alice, replays):
    replays(5.0, 9.0)
    submission = submit(alice)
    grade_submission(submission)
    said_words = StringIO()
    call_command("regrade", str(submission.run_id), stdout=said_words)
    assert "grade 2, KPI 9" in said_words.getvalue()
    assert "random" in said_words.getvalue()
    with pytest.raises(CommandError, match="no submission"):
        call_command("regrade", "nonsense")
