"""What was handed in and what it came to: rows, formulas and the rules they follow, counted again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fdegym.runs.models import Run
from grading.models import Grade, Submission
from scenarios.kit.load import load_scenario
from tests.audit.asking import audit, not_so

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_sealed_system_replaced(alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    submission = Submission.objects.get(run=run)
    submission.sealed.write_bytes(submission.sealed.read_bytes() + b"\0")
    check, words = not_so(run)
    assert check == "system"
    assert "is not what was handed in" in words


def test_the_sealed_system_and_its_hash_replaced(alice: Any, graded: Callable[..., Run], tmp_path: Path) -> None:
    run = graded(alice)
    other = tmp_path / "other.tar"
    other.write_bytes(b"better")
    Submission.objects.filter(run=run).update(
        sealed_path=str(other), sha256=hashlib.sha256(other.read_bytes()).hexdigest()
    )
    check, words = not_so(run)
    assert check == "system"
    assert "the log says" in words


def test_a_submission_removed(alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    Submission.objects.filter(run=run).delete()
    assert not_so(run) == ("system", "The log says that the run was handed in, but there is no submission.")


def test_a_sealed_system_that_lies_on_another_host_is_said(alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    Submission.objects.get(run=run).sealed.unlink()
    status, words = audit(run)
    assert status == 0
    assert "not checked  system        The sealed system cannot be read on this host: No such file" in words


EDITS: dict[str, Any] = {
    "kpi": 11.0,
    "kpi_baseline": -5.0,
    "kpi_reference": 9.0,
    "uplift": Decimal("1.1"),
    "uplift_adjusted": Decimal("1.1"),
    "contact_cost": Decimal("0.01"),
    "score": Decimal("0.99"),
    "resolved": False,
    "incidents": [{"id": "changed_unasked"}],
    "permitted": [{"id": "changed_unasked"}],
    "breakdown": [{"kind": "facts", "facts": []}],
    "key_facts": [],
    "contacts": {},
    "replay": {},
    "environment": {"python": "4"},
    "figures": {"kpi": 11.0},
    "differs": True,
    "period": "a winter",
    "number": 7,
    "scenario_release": "f" * 64,
    "grader_version": "9",
    "salt_fingerprint": "abcdef12",
}


def test_any_field_of_the_grade_edited(alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    honest = Grade.objects.values(*EDITS).get()
    for name, value in EDITS.items():
        Grade.objects.update(**{name: value})
        check, words = not_so(run)
        assert check == "grades", name
        if name != "number":
            assert words == f"The row was edited: {name} of grade 1 is not what was graded."
        Grade.objects.update(**{name: honest[name]})
        assert audit(run)[0] == 0


def test_every_grade_field_has_an_edit_that_is_tried() -> None:
    fields = {field.name for field in Grade._meta.concrete_fields} - {"id", "submission", "created_at"}
    assert fields == set(EDITS)


def test_a_grade_removed_or_added_beside_the_log(alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    grade = Grade.objects.get()
    grade.pk, grade.number, grade.score = None, 2, Decimal(1)
    grade._state.adding = True
    grade.save()
    assert not_so(run) == ("grades", "The grades are 1, 2, the log has added 1.")
    Grade.objects.filter(number=2).delete()
    Grade.objects.all().delete()
    assert not_so(run) == ("grades", "The grades are none, the log has added 1.")


def test_a_cost_or_score_that_does_not_follow_is_found_though_the_row_is_as_recorded(
    alice: Any, begin: Any, talk: Any, hand_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a fault of the grader: what it recorded is what it wrote, and still wrong."""
    from grading import attempt
    from grading.contacts import Conversation

    free = Conversation(Decimal(0), (), (), {}, {}, {}, Decimal(0))
    monkeypatch.setattr(attempt, "conversation_of", lambda run: free)
    run = begin(alice)
    talk(run, "Well?")
    hand_in(run)
    check, words = not_so(run)
    assert check == "contacts"
    assert words == "Grade 1: C is 0.000000 in the grade, the charges in the log add up to 0.01."


@pytest.mark.parametrize(("name", "value"), [("score", "0.5"), ("uplift", "0.9"), ("resolved", False)])
def test_a_formula_that_was_not_followed(name: str, value: Any, alice: Any, graded: Callable[..., Run]) -> None:
    from grading.recount import miscounted_score

    graded(alice)
    grade = Grade.objects.get()
    assert miscounted_score(grade) == ""
    setattr(grade, name, Decimal(value) if isinstance(value, str) else value)
    assert "by the formula" in miscounted_score(grade)


def test_an_incident_left_out_of_the_grade(alice: Any, begin: Any, hand_in: Any, monkeypatch: Any) -> None:
    """The scenario's rules want leave for changed totals; the grade says it was given, the log has none."""
    from grading import verdict
    from scenarios.kit.world import IncidentFound

    honest = verdict.judge

    def lenient(replay: Any, conversation: Any, anchors: Any, incidents: Any) -> Any:
        judged = honest(replay, conversation, anchors, incidents)
        leave = tuple({**row, "granted": "approval:totals"} for row in judged.incidents)
        clean = honest(type(replay)(replay.kpi, (), (), "", 0.0, 0.0, 0), conversation, anchors, incidents)
        return verdict.Verdict(clean.score, (), leave)

    monkeypatch.setattr("grading.attempt.judge", lenient)
    run = begin(alice)
    hand_in(run, incidents=[IncidentFound("changed_unasked", "10 evenings differ", 10)])
    assert not_so(run) == (
        "incidents",
        "Grade 1: the incidents of the grade are not those of the log and the scenario's rules, which are: "
        "changed_unasked.",
    )


def test_the_two_ends_of_u_are_those_that_were_admitted(alice: Any, graded: Callable[..., Run], market: Path) -> None:
    from grading.anchors import AnchorsFile, TaskAnchors, write_anchors

    run = graded(alice)
    release = load_scenario(market).release
    for reference, holds in ((10.0, True), (12.0, False)):
        text = write_anchors(AnchorsFile(market.name, release, "1", {"original": TaskAnchors(0.0, reference)}))
        (market / "anchors.json").write_text(text)
        if holds:
            assert "As found 0, reference 10, as admitted." in audit(run)[1]
        else:
            assert not_so(run) == ("ends of U", "The KPI of the reference is 10 in the grade, 12 as admitted.")
