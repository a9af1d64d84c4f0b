"""A run is handed in also when its workspace sleeps, and one that cannot be handed in holds up nobody else's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fdegym.delivery import submit, tasks
from fdegym.lib.errors import RunStateConflict
from fdegym.runs import log
from fdegym.runs.models import Run, RunState
from workspaces.runtime.errors import SandboxGone
from workspaces.services import FrozenSystem

pytestmark = pytest.mark.django_db


@pytest.fixture
def workspaces(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> dict[str, Any]:
    """Workspaces by run id: ``running`` (the default), ``stopped``, or the exception that freezing raises."""
    states: dict[str, Any] = {"reopened": [], "reconciled": []}
    settings.SUBMISSION_DIR = tmp_path / "submissions"

    def freeze(run_id: str, target: Path) -> FrozenSystem:
        state = states.get(run_id, "running")
        if isinstance(state, Exception):
            raise state
        if state == "stopped":
            raise SandboxGone("The workspace is not running. Open it again; its files are kept.")
        target.write_bytes(b"a tar")
        return FrozenSystem(target, "ab" * 32, 1, 5)

    def reopen(run: Any) -> None:
        states["reopened"].append(str(run.id))
        states[str(run.id)] = "running"

    monkeypatch.setattr(submit, "freeze_system", freeze)
    monkeypatch.setattr(submit, "reopen_workspace", reopen)
    monkeypatch.setattr(submit, "wake", lambda *_: None)
    monkeypatch.setattr(tasks, "reconcile", states["reconciled"].append)
    return states


def state_of(run: Any) -> str:
    run.refresh_from_db()
    return str(run.state)


def test_a_run_whose_workspace_was_stopped_while_nobody_worked_is_given_up_all_the_same(
    alice: Any, make_run: Any, workspaces: dict[str, Any]
) -> None:
    run = make_run(alice)
    workspaces[str(run.id)] = "stopped"
    submission = submit.abandon_run(run.id)
    assert workspaces["reopened"] == [str(run.id)]
    assert submit.abandon_run(run.id) == submission
    assert state_of(run) == RunState.SUBMITTED


def test_a_system_too_large_is_told_and_the_run_stays_open(
    alice: Any, make_run: Any, workspaces: dict[str, Any]
) -> None:
    run = make_run(alice)
    workspaces[str(run.id)] = RunStateConflict("The files of system are larger than 256 MB together.")
    with pytest.raises(RunStateConflict):
        submit.submit_run(run.id)
    assert state_of(run) == RunState.OPEN


def test_a_run_past_its_deadline_that_cannot_be_frozen_holds_up_no_other(
    alice: Any, bob: Any, charlie: Any, make_run: Any, workspaces: dict[str, Any]
) -> None:
    """Else one person's system too large would end the deadlines, and the clearing away, of everybody."""
    runs = [make_run(person) for person in (alice, bob, charlie)]
    for run in runs:
        log.append(run.id, "contact.deadline", {})
    first = Run.objects.filter(state=RunState.OPEN, events__kind="contact.deadline").distinct()[0]
    workspaces[str(first.id)] = RunStateConflict("The files of system are larger than 256 MB together.")
    tasks.sweep_workspaces()
    assert sorted(state_of(run) for run in runs) == [RunState.OPEN, RunState.SUBMITTED, RunState.SUBMITTED]
    assert str(first.id) in workspaces["reconciled"][0]


def test_a_workspace_that_cannot_be_cleared_away_holds_up_no_other(
    alice: Any, make_run: Any, workspaces: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from datetime import timedelta

    from django.utils import timezone

    ended = timezone.now() - tasks.GRACE - timedelta(minutes=1)
    for _ in range(2):
        make_run(alice, state=RunState.GRADED, ended_at=ended, submitted_at=ended)
    tried: list[Any] = []

    def clear_away(run: Any) -> None:
        tried.append(run.id)
        raise OSError("the keeper is away")

    monkeypatch.setattr(tasks, "clear_away", clear_away)
    tasks.sweep_workspaces()
    assert len(tried) == 2
    assert workspaces["reconciled"] == [[]]
