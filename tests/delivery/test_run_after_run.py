"""Nobody takes workspaces and graders from others by beginning run after run (FC-70)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from fdegym.delivery import begin
from fdegym.delivery.errors import RunsTooMany
from fdegym.runs.models import Run, RunState

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_workspaces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(begin, "_prepare_now_or_later", lambda run, scenario: run)


def begin_and_end(person: Any) -> Run:
    run = begin.begin_run(person, "oil_npt", "L3")
    Run.objects.filter(pk=run.pk).update(state=RunState.GRADED)
    return run


def test_so_many_runs_an_hour_may_be_begun_and_no_more(alice: Any, bob: Any) -> None:
    for _ in range(begin.RUNS_AN_HOUR):
        begin_and_end(alice)
    with pytest.raises(RunsTooMany) as refused:
        begin.begin_run(alice, "oil_npt", "L3")
    assert refused.value.http_status == 429
    assert Run.objects.filter(user=alice).count() == begin.RUNS_AN_HOUR
    begin_and_end(bob)
    Run.objects.filter(user=alice).update(begun_at=timezone.now() - timedelta(minutes=61))
    begin_and_end(alice)


def test_a_run_that_is_open_is_given_back_however_many_were_begun(alice: Any) -> None:
    for _ in range(begin.RUNS_AN_HOUR - 1):
        begin_and_end(alice)
    last = begin.begin_run(alice, "oil_npt", "L3")
    assert begin.begin_run(alice, "oil_npt", "L3") == last
