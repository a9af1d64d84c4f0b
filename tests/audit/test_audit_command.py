"""``manage.py audit``: what it says of honest runs, what it cannot check, keys, and that it changes nothing."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from fdegym.delivery.audit import CHECKS, Result, audit_run
from fdegym.runs import log
from fdegym.runs.models import Run, RunEvent
from grading.models import Grade, Submission
from grading.services import regrade
from stakeholders import versions
from tests.audit.asking import audit, not_so

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_honest_run_holds_in_every_check(alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    status, words = audit(run)
    assert status == 0
    report = audit_run(run.id)
    assert [found.check for found in report.findings] == list(CHECKS)
    unknown = {found.check for found in report.findings if found.result == Result.UNKNOWN}
    assert unknown == {"ends of U"}  # this scenario was never admitted
    assert "C = 0.02 from 2 contacts" in words
    assert "U = (10 − 0) / (10 − 0) = 1.000000; U_adj = 1.000000; S = 0.980000." in words
    assert "The first begun run: it ranks." in words
    assert "2 messages, waits and letters decided again" in words


@pytest.mark.parametrize("state", ["preparing", "open", "void"])
def test_a_run_holds_at_every_stage_of_its_life(
    state: str, alice: Any, begin: Callable[..., Run], talk: Any, hand_in: Any, market: Path
) -> None:
    from fdegym.delivery.begin import begin_run
    from grading.replay import ReplayVoid

    run = begin_run(alice, market.name, "L3") if state == "preparing" else begin(alice)
    if state == "preparing":
        Run.objects.filter(pk=run.pk).update(state="preparing")
        RunEvent.objects.filter(run=run, seq__gt=1).delete()
    else:
        talk(run, "Well?")
    if state == "void":
        hand_in(run, ReplayVoid("The scenario's grader failed: our fault, not yours.", retry=False))
    run.refresh_from_db()
    assert run.state == state
    assert audit(run)[0] == 0


def test_a_run_of_another_release_of_its_scenario_is_checked_as_far_as_it_can_be(
    alice: Any, graded: Callable[..., Run], market: Path
) -> None:
    run = graded(alice)
    (market / "docs" / "book.md").write_text("Returned goods are thrown away.\n")
    status, words = audit(run)
    assert status == 0
    report = {found.check: found for found in audit_run(run.id).findings}
    unknown = {name for name, found in report.items() if found.result == Result.UNKNOWN}
    assert unknown == {"given", "replies", "incidents", "ends of U"}
    for name in unknown:
        assert f"then release {run.release[:12]}" in report[name].words
    assert "4 could not be made here" in words


def test_a_run_of_a_scenario_that_is_not_installed_any_more_is_checked_too(
    alice: Any, graded: Callable[..., Run], settings: Any, tmp_path: Path
) -> None:
    run = graded(alice)
    settings.SCENARIO_DIRS = [tmp_path]
    status, words = audit(run)
    assert status == 0
    assert "is not installed here any more" in words
    Grade.objects.update(score=1)
    assert not_so(run)[0] == "grades"


def test_a_world_that_is_not_on_this_host_is_said_and_not_built(
    alice: Any, graded: Callable[..., Run], settings: Any, tmp_path: Path
) -> None:
    run = graded(alice)
    settings.WORLD_CACHE = tmp_path / "another"
    status, words = audit(run)
    assert status == 0
    assert "does not lie on this host" in words
    assert not list((tmp_path / "another").glob("building-*"))


def test_a_replaced_key_is_said_and_the_old_one_beside_it_suffices(
    alice: Any, graded: Callable[..., Run], settings: Any
) -> None:
    run = graded(alice)
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another-" + "k" * 60
    check, words = not_so(run)
    assert check == "signatures"
    assert "FDEGYM_OLD_KEYS must hold the one of then" in words
    settings.SECRET_KEY_FALLBACKS = [old]
    assert audit(run)[0] == 0
    assert regrade(Submission.objects.get(run=run)) is not None  # signed with the new key
    assert audit(run)[0] == 0
    settings.SECRET_KEY_FALLBACKS = []
    assert "was not made with a key of this site: whoever wrote it" in not_so(run)[1]


def test_an_audit_changes_nothing(
    alice: Any, graded: Callable[..., Run], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run = graded(alice)
    regrade(Submission.objects.get(run=run))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    request.getfixturevalue("database_is_only_read")
    assert audit(run)[0] == 0
    call_command("audit", "--all", stdout=StringIO())
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_all_runs_are_audited_and_those_that_do_not_hold_are_told_apart(
    alice: Any, bob: Any, graded: Callable[..., Run]
) -> None:
    good, bad = graded(alice), graded(bob)
    Grade.objects.filter(submission__run=bad).update(score=1)
    said = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("audit", "--all", stdout=said)
    assert ended.value.code == 1
    first, second, last = said.getvalue().splitlines()
    assert first.startswith(f"{good.id}  {len(CHECKS) - 1} checks are so")
    assert second.startswith(f"{bad.id}  NOT SO  grades: The row was edited: score")
    assert last == "2 runs, 1 of them with something that is not so."
    said = StringIO()
    with pytest.raises(SystemExit):
        call_command("audit", "--all", "--json", stdout=said)
    assert [json.loads(text)["holds"] for text in said.getvalue().splitlines()] == [True, False]


@pytest.mark.parametrize("name", ["nonsense", "00000000-0000-0000-0000-000000000000"])
def test_a_run_that_does_not_exist_is_said(name: str, db: None) -> None:
    with pytest.raises(CommandError, match="There is no run"):
        call_command("audit", name)


def test_the_rules_that_answer_have_a_version_that_changes_with_their_code_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "stakeholders"
    here = Path(versions.__file__).parent
    shutil.copytree(here, copy, ignore=shutil.ignore_patterns("__pycache__", "matcher_data"))
    monkeypatch.setattr(versions, "_HERE", copy)
    fresh = versions.people_version.__wrapped__
    assert fresh() == versions.people_version()
    (copy / "ask" / "ask").write_text("another")
    assert fresh() == versions.people_version()
    (copy / "engine.py").write_text((copy / "engine.py").read_text() + "\n")
    assert fresh() != versions.people_version()


def test_what_the_page_says_cannot_be_found_is_not_claimed_to_be(
    alice: Any, bob: Any, begin: Any, talk: Any, graded: Callable[..., Run]
) -> None:
    """docs/believable.md: with the database, the last events of an open run can be taken back, and a grade with its
    events, so that the run is graded again. The audit does not pretend otherwise."""
    run = begin(alice)
    talk(run, "Well?", "And?")
    RunEvent.objects.filter(run=run, seq=log.head(run)[0]).delete()
    assert audit(run)[0] == 0

    other = graded(bob)
    Grade.objects.filter(submission__run=other).delete()
    for _ in ("graded", "grade.added"):
        RunEvent.objects.filter(run=other, seq=log.head(other)[0]).delete()
    Run.objects.filter(pk=other.pk).update(state="submitted", state_reason="person", ended_at=None)
    assert audit(other)[0] == 0
