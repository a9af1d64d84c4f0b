"""A frozen system in the database, for graders on hosts that do not have the file."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from grading import carried
from grading.carried import at_hand, carry
from grading.models import Grade, SealedPart, Submission, SubmissionState
from grading.queue import decide_graded
from grading.services import grade_submission
from grading.tasks import grade_next
from scenarios.kit.errors import ScenarioUnknown

pytestmark = [pytest.mark.backend, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def elsewhere(submit: Any, alice: Any, monkeypatch: pytest.MonkeyPatch) -> Submission:
    """A submission that was carried, in more than one part, seen from a host without its file."""
    monkeypatch.setattr(carried, "PART_BYTES", 1000)
    submission: Submission = submit(alice)
    carry(submission, submission.sealed)
    assert SealedPart.objects.count() > 3
    submission.sealed.rename(submission.sealed.with_suffix(".away"))
    return submission


def test_another_host_grades_the_very_bytes_that_were_handed_in(elsewhere: Submission, replays: Any) -> None:
    """FC-88"""
    replayed = replays(5.0)
    grade_next()
    assert Grade.objects.get().submission == elsewhere  # whose hash was looked at
    (path,) = replayed
    assert path != elsewhere.sealed
    assert not path.exists(), "what was fetched is removed with the grading"
    assert not SealedPart.objects.exists(), "a graded system is kept once, as a file"


def test_where_the_file_is_nothing_is_fetched(submit: Any, alice: Any) -> None:
    submission = submit(alice)
    carry(submission, submission.sealed)
    with at_hand(submission) as sealed:
        assert sealed == submission.sealed


def test_a_system_whose_parts_are_not_what_was_handed_in_gets_no_grade(elsewhere: Submission, replays: Any) -> None:
    replayed = replays(5.0)
    SealedPart.objects.filter(submission=elsewhere, number=1).delete()
    grade_next()
    elsewhere.refresh_from_db()
    assert elsewhere.state == SubmissionState.VOID
    assert "instead of" in elsewhere.operator_detail
    assert replayed == []


def test_a_system_that_is_nowhere_is_looked_for_again_before_it_is_given_up(
    submit: Any, alice: Any, replays: Any
) -> None:
    replays(5.0)
    submission = submit(alice)
    submission.sealed.unlink()
    grade_next()
    submission.refresh_from_db()
    assert submission.state == SubmissionState.QUEUED
    assert submission.sealed_path in submission.operator_detail


def test_a_host_that_lacks_the_scenario_leaves_its_runs_to_others_and_costs_nobody_an_attempt(
    submit: Any, alice: Any, replays: Any, settings: Any, tmp_path: Path
) -> None:
    """FC-93: a private one that was not installed on every host, say."""
    replays(5.0)
    submission, installed = submit(alice), settings.SCENARIO_DIRS

    def due() -> None:
        Submission.objects.update(not_before=None)

    settings.SCENARIO_DIRS = [tmp_path / "nothing"]
    for _ in range(4):
        due()
        grade_next()
    submission.refresh_from_db()
    assert (submission.state, submission.attempts) == (SubmissionState.QUEUED, 0)
    assert submission.not_before is not None
    assert "There is no scenario" in submission.operator_detail
    due()
    with pytest.raises(ScenarioUnknown):
        grade_submission(submission)
    settings.SCENARIO_DIRS = installed
    due()
    grade_next()
    assert Grade.objects.get().submission == submission


def test_a_grader_killed_while_it_held_a_fetched_system_leaves_none(
    elsewhere: Submission, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grading import measure

    dead = settings.VAR / "grading-scratch" / "999999999-1"
    monkeypatch.setattr(carried, "own_scratch", lambda: dead)
    with at_hand(elsewhere) as sealed:
        shutil.copytree(sealed.parent, dead / "sealed-left")
    measure.remove_leftovers()
    assert not dead.exists()


def test_handing_in_carries_the_system_where_others_may_grade(
    alice: Any, make_run: Any, stall: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fdegym.delivery import submit as handing_in
    from workspaces.services import FrozenSystem

    def frozen(run_id: str, target: Path) -> FrozenSystem:
        target.write_bytes(b"frozen")
        return FrozenSystem(target, "f" * 64, 1, 6)

    monkeypatch.setattr(handing_in, "freeze_system", frozen)
    monkeypatch.setattr(handing_in, "wake", lambda task: None)
    for others in (False, True):
        monkeypatch.setattr(handing_in, "others_may_grade", lambda others=others: others)
        submission = handing_in.submit_run(make_run(alice, stall.name).id)
        assert [bytes(part.content) for part in submission.parts.all()] == ([b"frozen"] if others else [])
        decide_graded(submission)
