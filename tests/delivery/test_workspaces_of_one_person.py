"""How many workspaces one person may have open: who begins one more is told which are open and what helps, and two tabs
that begin at once do not both get the last one. Runs on SQLite here and, through ``test_suites``, on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from fdegym.accounts.models import User
from fdegym.delivery import begin
from fdegym.delivery.errors import WorkspacesTooMany
from fdegym.lib.errors import ServiceUnavailable
from fdegym.pages import visiting, workbench
from fdegym.runs.models import Run, RunState
from tests.deployment.test_at_once import at_once
from workspaces.runtime.base import SandboxState

pytestmark = pytest.mark.django_db(transaction=True)
SCENARIOS = ("oil_npt", "first_delivery", "fund_recon", "logistics_claims")
MakeRun = Callable[..., Run]


@pytest.fixture
def stopped(monkeypatch: pytest.MonkeyPatch, settings: Any) -> set[str]:
    """Run ids whose workspaces do not run; all others do."""
    made: set[str] = set()

    def state(run_id: str) -> SandboxState:
        return SandboxState.STOPPED if run_id in made else SandboxState.RUNNING

    settings.WORKSPACES_PER_USER = 2
    monkeypatch.setattr(begin, "_prepare_now_or_later", lambda run, scenario: run)
    monkeypatch.setattr(begin, "workspace_state", state)
    monkeypatch.setattr(visiting, "workspace_state", state)
    monkeypatch.setattr(workbench.workspace, "stop_workspace", made.add)
    return made


def test_one_more_is_refused_by_a_page_that_says_what_is_open_and_stops_one(
    client: Client, alice: User, stopped: set[str]
) -> None:
    """FC-70."""
    client.force_login(alice)
    runs = [begin.begin_run(alice, scenario_id, "L3") for scenario_id in SCENARIOS[:2]]
    Run.objects.update(state=RunState.OPEN)
    answer = client.post(reverse("scenario-begin", args=[SCENARIOS[2]]), {"level": "L3"})
    html = answer.content.decode()
    assert answer.status_code == 409
    assert "You have 2 workspaces open, as many as one person may have at once" in html
    assert "Hand in one of these runs, or stop its workspace" in html
    assert Run.objects.count() == 2, "nothing was begun"
    for run in runs:
        assert reverse("run", args=[run.id]) in html
        assert reverse("workbench_stop", args=[run.id]) in html

    client.post(reverse("workbench_stop", args=[runs[0].id]))
    assert stopped == {str(runs[0].id)}
    html = client.get(reverse("workspaces")).content.decode()
    assert reverse("workbench_stop", args=[runs[0].id]) not in html
    assert reverse("run", args=[runs[0].id]) in html, "from where it is opened again"
    assert client.post(reverse("scenario-begin", args=[SCENARIOS[2]]), {"level": "L3"}).status_code == 302
    assert Run.objects.count() == 3


def test_a_run_that_waits_counts_and_one_that_was_handed_in_does_not(alice: User, bob: User, stopped: set[str]) -> None:
    waits, opened = (begin.begin_run(alice, scenario_id, "L3") for scenario_id in SCENARIOS[:2])
    Run.objects.filter(pk=opened.pk).update(state=RunState.OPEN)
    assert waits.state == RunState.PREPARING
    with pytest.raises(WorkspacesTooMany):
        begin.begin_run(alice, SCENARIOS[2], "L3")
    begin.begin_run(bob, SCENARIOS[2], "L3")
    Run.objects.filter(pk=opened.pk).update(state=RunState.SUBMITTED)
    begin.begin_run(alice, SCENARIOS[2], "L3")


def test_beginning_twice_the_last_one_that_may_be_open_is_beginning_once(
    alice: User, stopped: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """FC-83: a second tab, or press, that saw no run yet when it came."""
    begin.begin_run(alice, SCENARIOS[0], "L3")
    last = begin.begin_run(alice, SCENARIOS[1], "L3")
    seen, found = iter([None]), begin.live_run_of
    monkeypatch.setattr(begin, "live_run_of", lambda *asked: next(seen, found(*asked)))
    assert begin.begin_run(alice, SCENARIOS[1], "L3") == last
    assert Run.objects.count() == 2


def test_an_open_run_of_a_scenario_that_was_taken_away_is_named_all_the_same(
    client: Client, alice: User, stopped: set[str]
) -> None:
    client.force_login(alice)
    runs = [begin.begin_run(alice, scenario_id, "L3") for scenario_id in SCENARIOS[:2]]
    Run.objects.filter(pk=runs[0].pk).update(scenario_id="taken_away")
    answer = client.post(reverse("scenario-begin", args=[SCENARIOS[2]]), {"level": "L3"})
    assert answer.status_code == 409
    assert "as many as one person may have at once: " in answer.content.decode()
    assert "taken_away" in answer.content.decode()


def test_below_that_number_nobody_is_asked(
    client: Client, alice: User, stopped: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So beginning needs no keeper; and where it does, one that is away is said to be away."""

    waited_for = []

    def away(run_id: str) -> str:
        waited_for.append(run_id)
        raise ServiceUnavailable("The workspace service does not answer.")

    monkeypatch.setattr(begin, "workspace_state", away)
    for scenario_id in SCENARIOS[:2]:
        begin.begin_run(alice, scenario_id, "L3")
    Run.objects.update(state=RunState.OPEN)
    with pytest.raises(ServiceUnavailable):
        begin.begin_run(alice, SCENARIOS[2], "L3")
    monkeypatch.setattr(visiting, "workspace_state", away)
    client.force_login(alice)
    waited_for.clear()
    assert client.get(reverse("workspaces")).content.decode().count("not known at the moment") == 2
    assert len(waited_for) == 1, "a keeper that hangs is waited for once, not for each workspace"


@pytest.mark.backend
@pytest.mark.parametrize("round_", range(3))
def test_of_tabs_that_begin_at_once_one_gets_the_last_workspace(alice: User, stopped: set[str], round_: int) -> None:
    """FC-67, FC-83: at different customers, so that nothing but the number stands between them."""
    first = begin.begin_run(alice, SCENARIOS[0], "L3")
    Run.objects.filter(pk=first.pk).update(state=RunState.OPEN)
    outcomes = at_once(3, lambda number: begin.begin_run(alice, SCENARIOS[1 + number], "L3").pk)
    refused = [one for one in outcomes if isinstance(one, WorkspacesTooMany)]
    assert len(refused) == 2, outcomes
    assert Run.objects.count() == 2
