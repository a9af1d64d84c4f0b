"""After a run its workspace stays for a while, then goes; and a beginning that half failed goes on by itself."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from fdegym.delivery import begin, tasks
from fdegym.lib.errors import FdegymError
from fdegym.runs.models import Run, RunState
from tests.grading.conftest import stall  # noqa: F401 - a fixture
from tests.grading.sides import TINY

pytestmark = pytest.mark.django_db


@pytest.fixture
def cleared(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a sweep cleared away, and which runs it told the keeper to keep."""
    seen: dict[str, Any] = {"cleared": [], "kept": None}
    monkeypatch.setattr(tasks, "clear_away", lambda run: seen["cleared"].append(run.pk))
    monkeypatch.setattr(tasks, "reconcile", lambda live: seen.update(kept=set(live)))
    return seen


@pytest.mark.parametrize("state", [RunState.GRADED, RunState.VOID])
def test_a_workspace_stays_for_its_time_of_grace_and_is_freed_then(
    state: RunState, alice: Any, make_run: Any, cleared: dict[str, Any]
) -> None:
    """FC-74: soon after the last word, not at once, and not an open run's."""
    now = timezone.now()
    within, beyond = now - tasks.GRACE + timedelta(minutes=2), now - tasks.GRACE - timedelta(minutes=2)
    fresh = make_run(alice, state=state, submitted_at=within, ended_at=within)
    old = make_run(alice, state=state, submitted_at=beyond, ended_at=beyond)
    working = make_run(alice)
    tasks.sweep_workspaces()
    assert cleared["cleared"] == [old.pk]
    assert cleared["kept"] == {str(fresh.pk), str(working.pk)}


def test_a_beginning_whose_workspace_failed_is_begun_and_goes_on_by_itself(
    alice: Any,
    stall: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """FC-114: half-way through, the person is not told of an error for something that exists; beginning again, or in
    another tab, gives the same run, and the next sweep opens it."""
    broken = True

    def ask_for_workspace(run_id: str, materials: Any, *, here: bool) -> None:
        if broken:
            raise FdegymError("The sandbox host is being restarted.")

    monkeypatch.setattr(begin, "ask_for_workspace", ask_for_workspace)
    monkeypatch.setattr(begin, "wake", lambda *_: None)
    monkeypatch.setattr(begin, "world_is_built", lambda scenario, task_id: True)
    monkeypatch.setattr(tasks, "reconcile", lambda live: None)
    run = begin.begin_run(alice, TINY.name, "L3")
    assert run.state == RunState.PREPARING
    assert begin.begin_run(alice, TINY.name, "L3") == run
    broken = False
    Run.objects.filter(pk=run.pk).update(begun_at=timezone.now() - timedelta(seconds=11))
    tasks.sweep_workspaces()
    assert begin.begin_run(alice, TINY.name, "L3").state == RunState.OPEN
    assert Run.objects.count() == 1
