"""The audit of runs with trials: it holds for honest ones and finds what was edited, in the log and in the grade."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from fdegym.delivery.audit import Report, Result, audit_run
from fdegym.delivery.submit import submit_run
from fdegym.delivery.trials import run_trials
from fdegym.pages.exports import run_export
from fdegym.runs import log
from fdegym.runs.models import Run, RunEvent
from grading.models import Grade
from grading.services import current_grade, grade_submission

pytestmark = pytest.mark.django_db(transaction=True)
WRONG = [("wrong", {"evenings": 2, "evening": ["the third evening"]})]


@pytest.fixture
def graded(begin: Callable[[Any], Run], ask: Any, finds: Any, trying: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``graded(user)``: two trials, the second of which our fault ended, then handed in and graded at U = 1."""
    from grading import attempt
    from grading.anchors import TaskAnchors
    from grading.measure import Measured
    from grading.replay import GradedReplay, ReplayVoid

    replay = GradedReplay(10.0, (), (), "ten days of spring", 1.0, 1.0, 20, {})
    measured = Measured(replay, {"python": "3.11", "sqlite": "3.40", "sandbox": "none", "limits": ""})
    monkeypatch.setattr(attempt, "measure", lambda *_, **__: measured)
    monkeypatch.setattr(attempt, "task_anchors", lambda *_, **__: TaskAnchors(0.0, 10.0))

    def make(user: Any) -> Run:
        run = begin(user)
        finds(WRONG, ReplayVoid("The scenario's grader failed.", retry=False))
        for client_id in ("t1", "t2"):
            ask(run, client_id)
            run_trials()
        grade_submission(submit_run(run.id))
        run.refresh_from_db()
        return run

    return make


def failing(report: Report) -> dict[str, str]:
    return {found.check: found.words for found in report.findings if found.result == Result.NOT_SO}


def rewrite(run: Run, kind: str, **changes: Any) -> None:
    """Edit the last event of a kind and sign the whole log anew, as whoever has database and key could."""
    victim = RunEvent.objects.filter(run=run, kind=kind).order_by("seq").last()
    assert victim is not None
    RunEvent.objects.filter(pk=victim.pk).update(payload={**victim.payload, **changes})
    previous = log.genesis(run.id, run.release)
    for event in RunEvent.objects.filter(run=run).order_by("seq"):
        previous = log.link(previous, event.seq, event.kind, event.payload, event.at)
        RunEvent.objects.filter(pk=event.pk).update(hash=previous, signature=log.sign_event(run.id, previous))
        if event.kind == "run.state" and event.payload.get("to") == "submitted":
            Run.objects.filter(pk=run.pk).update(
                sealed_head=previous, sealed_signature=_sealed(run, event.seq, previous)
            )
    run.refresh_from_db()


def _sealed(run: Run, seq: int, digest: str) -> str:
    from django.core import signing

    return signing.Signer(salt=log.SIGNATURE_SALT).sign(f"{run.id}:{seq}:{digest}")


def test_a_run_with_trials_holds_and_its_export_adds_up(alice: Any, graded: Callable[[Any], Run]) -> None:
    run = graded(alice)
    report = audit_run(run.id)
    assert failing(report) == {}
    words = {found.check: found.words for found in report.findings}
    assert words["replies"].startswith("4 messages, waits, letters and trials decided again")
    assert words["contacts"] == "C = 0.03 from 0 contacts and 1 trial."
    grade = current_grade(run)
    assert grade is not None
    assert grade.contacts["trials"] == {"count": 1, "cost": "0.03"}
    assert str(grade.score) == "0.970000"
    exported = json.loads(json.dumps(run_export(run, grade), default=str))
    charges = [event["payload"]["charge"] for event in exported["log"] if event["kind"] == "trial.reported"]
    assert charges == ["0.03", "0"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"charge": "0.01"}, "by the rules it is"),
        ({"counted": True}, "by the rules it is"),
        ({"said": [{"id": "wrong", "text": "Ada: subtract the returns."}]}, "no such sentence"),
    ],
)
def test_an_edited_report_is_found_even_under_the_sites_own_signature(
    changes: dict[str, Any], words: str, alice: Any, graded: Callable[[Any], Run]
) -> None:
    run = graded(alice)
    rewrite(run, "trial.reported", **changes)
    assert list(failing(audit_run(run.id))) == ["replies"]
    assert words in failing(audit_run(run.id))["replies"]


def test_a_grade_that_forgets_a_trial_is_found(alice: Any, graded: Callable[[Any], Run]) -> None:
    run = graded(alice)
    grade = current_grade(run)
    assert grade is not None
    Grade.objects.filter(pk=grade.pk).update(contacts={**grade.contacts, "trials": {"count": 0, "cost": "0"}})
    assert list(failing(audit_run(run.id))) == ["grades"]


def test_a_trial_after_the_end_is_found(alice: Any, graded: Callable[[Any], Run]) -> None:
    run = graded(alice)
    log.append(run.id, "trial.requested", {"client_id": "t9", "number": 2, "at": None})
    assert list(failing(audit_run(run.id))) == ["course"]
