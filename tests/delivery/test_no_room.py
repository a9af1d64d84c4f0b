"""A workspace that has to wait: the run says where it stands, goes on by itself, and nothing of it counts as failed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from fdegym.accounts.models import User
from fdegym.delivery import begin, tasks, waiting
from fdegym.delivery.errors import RunsTooMany
from fdegym.lib.errors import FdegymError, RunStateConflict, ServiceUnavailable
from fdegym.pages import workbench
from fdegym.runs import log
from fdegym.runs.models import Run, RunState
from fdegym.runs.services import transition
from tests.grading.sides import TINY
from workspaces import services
from workspaces.places import Place, Why

MakeRun = Callable[..., Run]


class Queue:
    """The keeper's, as the site meets it: ``place`` is where every run stands, None where its workspace runs."""

    def __init__(self) -> None:
        self.place: Place | None = Place(Why.ROOM, 3)
        self.known: set[str] = set()
        self.asked: list[tuple[str, bool]] = []
        self.destroyed: list[str] = []

    def ask(self, run_id: str, materials: Any, *, here: bool = True) -> Place | None:
        self.asked.append((run_id, here))
        if self.place is not None:
            self.known.add(run_id)
        return self.place

    def where(self, run_id: str) -> Place | None:
        return self.place if run_id in self.known else None


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Queue:
    made = Queue()
    settings.SCENARIO_DIRS = [TINY.parent]
    settings.DESK_DIR = settings.VAR / "desk-of-tests"
    monkeypatch.setattr(begin, "ask_for_workspace", made.ask)
    monkeypatch.setattr(begin, "note_given", lambda run, task: None)
    monkeypatch.setattr(begin, "world_is_built", lambda scenario, task_id: True)
    monkeypatch.setattr(waiting, "world_is_built", lambda scenario, task_id: True)
    monkeypatch.setattr(waiting, "place_in_queue", made.where)
    monkeypatch.setattr("fdegym.delivery.submit.destroy_workspace", made.destroyed.append)
    monkeypatch.setattr(tasks, "reconcile", lambda live: None)
    return made


def state_of(client: Client, run: Run) -> dict[str, Any]:
    return dict(client.get(reverse("workbench_state", args=[run.id])).json())


def test_a_run_that_has_to_wait_says_where_it_stands_and_opens_when_it_is_its_turn(
    client: Client, alice: User, queue: Queue
) -> None:
    """FC-79."""
    client.force_login(alice)
    run = begin.begin_run(alice, TINY.name, "L3")
    assert run.state == RunState.PREPARING
    told = state_of(client, run)
    assert told["state"] == "preparing"
    assert told["waiting"] == {"why": "room", "before": 3, "words": Place(Why.ROOM, 3).words}
    queue.place = Place(Why.TURN, 1)
    assert state_of(client, run)["waiting"]["words"] == "1 other is before you: your workspace then opens by itself."
    assert Place(Why.TURN, 1).words in client.get(reverse("run", args=[run.id])).content.decode()
    queue.place = None
    assert state_of(client, run)["state"] == "open"


def test_asking_where_one_stands_asks_for_the_workspace_anew_only_where_the_keeper_has_forgotten_it(
    client: Client, alice: User, queue: Queue
) -> None:
    """FC-62: a keeper that was restarted knows nobody."""
    client.force_login(alice)
    run = begin.begin_run(alice, TINY.name, "L3")
    for _ in range(5):
        state_of(client, run)
    assert queue.asked == [(str(run.id), True)]
    queue.known.clear()
    state_of(client, run)
    assert queue.asked == [(str(run.id), True)] * 2


def test_the_sweep_asks_without_passing_anybody(alice: User, queue: Queue) -> None:
    run = begin.begin_run(alice, TINY.name, "L3")
    Run.objects.filter(pk=run.pk).update(begun_at=timezone.now() - timedelta(seconds=11))
    for _ in range(2 * waiting.PREPARING_TRIES):
        tasks.sweep_workspaces()
    assert queue.asked[1:] == [(str(run.id), False)] * (2 * waiting.PREPARING_TRIES)
    run.refresh_from_db()
    assert run.state == RunState.PREPARING
    assert [event.kind for event in log.events(run.id)] == ["run.begun"], "waiting is no failure"


def test_the_persons_clock_begins_when_the_workspace_is_handed_out(alice: User, queue: Queue) -> None:
    run = begin.begin_run(alice, TINY.name, "L3")
    waited = timedelta(minutes=40)
    Run.objects.filter(pk=run.pk).update(begun_at=timezone.now() - waited)
    queue.place = None
    opened = begin.prepare_run(run.id)
    assert opened.opened_at is not None
    (moved,) = log.events(run.id, kinds=["run.state"])
    assert opened.clock_from == opened.opened_at == moved.at
    assert opened.clock_from >= opened.begun_at + waited
    handed_in = transition(run.id, RunState.SUBMITTED)
    assert handed_in.time_used is not None
    assert handed_in.time_used < waited


def test_the_workbench_shows_that_clock(client: Client, alice: User, make_run: MakeRun) -> None:
    opened_at = datetime.fromisoformat("2026-03-01T10:00:00+00:00")
    run = make_run(alice, opened_at=opened_at)
    client.force_login(alice)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workbench, "ensure_world", lambda scenario, task_id: _NoDocuments())
        html = client.get(reverse("run", args=[run.id])).content.decode()
    assert opened_at.isoformat() in html


class _NoDocuments:
    """A task of which nothing is shown."""

    visible = system = TINY

    def brief(self, level: str) -> str:
        return level


def test_a_failure_is_tried_again_in_a_moment_and_given_up_after_three(
    client: Client, alice: User, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FC-69: every start ends ready or failed, and the page does not hammer on what is broken."""

    def broken(run_id: str, materials: Any, **_: Any) -> Place | None:
        raise FdegymError("The sandbox could not be started: no such image.")

    client.force_login(alice)
    run = begin.begin_run(alice, TINY.name, "L3")
    queue.known.clear()
    monkeypatch.setattr(begin, "ask_for_workspace", broken)
    assert [state_of(client, run)["state"] for _ in range(3)] == ["preparing"] * 3
    assert len(log.events(run.id, kinds=[waiting.FAILED])) == 1, "the next try is not before a while"
    monkeypatch.setattr(waiting, "TRY_AGAIN", timedelta(0))
    assert [state_of(client, run)["state"] for _ in range(2)] == ["preparing", "failed"]
    assert "no such image" in client.get(reverse("run", args=[run.id])).content.decode()


def test_a_page_that_waits_goes_on_asking_without_a_keeper(
    client: Client, alice: User, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> Place | None:
        raise ServiceUnavailable("The keeper does not answer.")

    monkeypatch.setattr(waiting, "place_in_queue", away)
    run = make_run(alice, state=RunState.PREPARING)
    client.force_login(alice)
    assert state_of(client, run) == {**state_of(client, run), "state": "preparing", "waiting": None}
    assert client.get(reverse("run", args=[run.id])).status_code == 200


def test_a_keeper_that_is_away_fails_nobody_who_waits(
    client: Client, alice: User, queue: Queue, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    """FC-62: however long, and whoever asks."""
    client.force_login(alice)
    settings.KEEPER_SOCKET = tmp_path / "nobody.sock"
    monkeypatch.setattr(begin, "ask_for_workspace", services.ask_for_workspace)
    monkeypatch.setattr(begin, "wake", lambda *_: None)
    monkeypatch.setattr(waiting, "TRY_AGAIN", timedelta(0))
    run = begin.begin_run(alice, TINY.name, "L3")
    Run.objects.filter(pk=run.pk).update(begun_at=timezone.now() - timedelta(seconds=11))
    for _ in range(2 * waiting.PREPARING_TRIES):
        tasks.prepare(str(run.id))
        tasks.sweep_workspaces()
        assert state_of(client, run)["state"] == "preparing"
    assert [event.kind for event in log.events(run.id)] == ["run.begun"], "that is no failure of this run"
    queue.place = None
    monkeypatch.setattr(begin, "ask_for_workspace", queue.ask)
    assert state_of(client, run)["state"] == "open"


def test_whoever_comes_back_to_a_stopped_workspace_stands_in_the_same_queue(
    client: Client, alice: User, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(Why.ROOM, 2)
    run = make_run(alice)
    monkeypatch.setattr(workbench.workspace, "workspace_state", lambda run_id: "stopped")
    monkeypatch.setattr(workbench, "ask_to_reopen", lambda run: place)
    client.force_login(alice)
    answer = client.post(reverse("workbench_ticket", args=[run.id]), {"terminal": 1}, content_type="application/json")
    assert (answer.status_code, answer.json()) == (503, {"error": place.words, "waiting": True})


# giving up


def test_who_does_not_want_to_wait_is_out_of_the_queue_and_the_run_counts_nowhere(
    client: Client, alice: User, queue: Queue
) -> None:
    client.force_login(alice)
    run = begin.begin_run(alice, TINY.name, "L3")
    answer = client.post(reverse("workbench_withdraw", args=[run.id]))
    assert answer.headers["Location"] == reverse("scenario", args=[TINY.name])
    run.refresh_from_db()
    assert (run.state, run.is_ranked) == (RunState.FAILED, False)
    assert queue.destroyed == [str(run.id)], "by which its place is given up too"
    html = client.get(reverse("run", args=[run.id])).content.decode()
    assert "You stopped waiting" in html
    assert "our fault" not in html
    queue.place = None
    again = begin.begin_run(alice, TINY.name, "L3")
    assert (again.state, again.attempt, again.is_ranked) == (RunState.OPEN, 1, True)


def test_who_stops_waiting_while_her_world_is_built_gets_no_workspace_any_more(
    alice: User, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, run = begin.ensure_world, begin.begin_run(alice, TINY.name, "L3")

    def build_slowly(*of_task: Any) -> Any:
        waiting.withdraw_run(run)
        return build(*of_task)

    monkeypatch.setattr(begin, "ensure_world", build_slowly)
    asked = list(queue.asked)
    assert begin.prepare_run(run.id).state == RunState.FAILED
    assert queue.asked == asked


def test_a_run_that_was_opened_in_that_moment_is_not_given_up(alice: User, queue: Queue) -> None:
    run = begin.begin_run(alice, TINY.name, "L3")
    queue.place = None
    begin.prepare_run(run.id)
    with pytest.raises(RunStateConflict):
        waiting.withdraw_run(run)
    assert queue.destroyed == []


def test_beginning_and_giving_up_again_and_again_is_bounded_like_any_other_beginning(alice: User, queue: Queue) -> None:
    """FC-70."""
    for _ in range(begin.RUNS_AN_HOUR):
        waiting.withdraw_run(begin.begin_run(alice, TINY.name, "L3"))
    with pytest.raises(RunsTooMany):
        begin.begin_run(alice, TINY.name, "L3")
