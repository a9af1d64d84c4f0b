"""What several processes do at once. Runs on SQLite here and, through ``test_suites``, on PostgreSQL and Redis."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from fdegym.accounts.tickets import TicketRefused, issue_ticket, redeem_ticket
from fdegym.lib.errors import RunStateConflict
from fdegym.runs import log
from fdegym.runs.models import Run, RunEvent, RunState
from fdegym.runs.services import transition
from grading.models import Submission
from tests.waiting import until

pytestmark = [pytest.mark.backend, pytest.mark.django_db(transaction=True)]


def at_once(count: int, act: Callable[[int], Any]) -> list[Any]:
    """``act(number)`` in so many threads, let go together; gives what each returned or raised."""
    outcomes: list[Any] = [None] * count
    start = threading.Barrier(count)

    def work(number: int) -> None:
        try:
            start.wait(20)
            outcomes[number] = act(number)
        except Exception as problem:  # noqa: BLE001 - an outcome like any other
            outcomes[number] = problem
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return outcomes


def test_eight_writers_of_one_log_all_get_numbers_and_the_chain_holds(alice, make_run):
    run = make_run(alice)
    outcomes = at_once(8, lambda number: [log.append(run.id, "note", {"writer": number}).seq for _ in range(10)])
    assert [problem for problem in outcomes if isinstance(problem, Exception)] == []
    assert sorted(seq for seqs in outcomes for seq in seqs) == list(range(1, 81))
    assert log.first_broken_link(run) is None


@pytest.mark.parametrize("round_", range(3))
def test_a_submission_amid_messages_waits_for_nobody_who_waits_for_it(alice, make_run, round_):
    """A message writes an event; a submission locks the run and writes one too: never a deadlock between the two."""
    run = make_run(alice)

    def act(number: int) -> Any:
        if number == 0:
            return transition(run.id, RunState.SUBMITTED)
        return [log.append(run.id, "contact.message", {"number": number}) for _ in range(8)]

    assert [problem for problem in at_once(6, act) if isinstance(problem, Exception)] == []
    assert log.first_broken_link(run) is None
    sealed = Run.objects.get(pk=run.pk)
    (event,) = RunEvent.objects.filter(run=run, kind="run.state")
    assert log.signature_fits(run, sealed.sealed_head, sealed.sealed_signature)
    assert sealed.sealed_head == event.hash


def test_four_tabs_that_begin_at_once_begin_one_run(alice, settings, monkeypatch):
    """The world is not built yet, so each would have a worker prepare it."""
    from fdegym.delivery import begin
    from tests.grading.sides import TINY

    settings.SCENARIO_DIRS = [TINY.parent]
    settings.WORLD_CACHE = settings.VAR / "no-worlds"
    woken = []
    monkeypatch.setattr(begin, "wake", lambda task, *arguments: woken.append(arguments))
    outcomes = at_once(4, lambda _: begin.begin_run(alice, TINY.name, "L3").pk)
    assert len(set(outcomes)) == 1, outcomes
    assert not isinstance(outcomes[0], Exception)
    run = Run.objects.get()
    assert (run.attempt, run.state) == (1, RunState.PREPARING)
    assert [event.kind for event in log.events(run.id)] == ["run.begun"]
    assert woken == [(str(run.id),)]


@pytest.fixture
def frozen(settings, tmp_path, monkeypatch):
    """Freezing without a workspace: each time another file, as a person who goes on typing would leave it."""
    from fdegym.delivery import submit
    from workspaces.services import FrozenSystem

    settings.SUBMISSION_DIR = tmp_path / "submissions"

    def freeze(run_id: str, target: Any) -> FrozenSystem:
        target.write_text(target.name)
        return FrozenSystem(target, hashlib.sha256(target.read_bytes()).hexdigest(), 1, 1)

    monkeypatch.setattr(submit, "freeze_system", freeze)
    monkeypatch.setattr(submit, "wake", lambda task: None)
    return settings.SUBMISSION_DIR


def test_tabs_that_hand_in_and_give_up_at_once_hand_in_once(alice, make_run, frozen):
    """FC-83: whoever was second gets the first one's submission, and what it froze is gone."""
    from fdegym.delivery.submit import abandon_run, submit_run

    run = make_run(alice)
    outcomes = at_once(4, lambda number: (submit_run if number % 2 else abandon_run)(run.id).pk)
    submission = Submission.objects.get()
    assert outcomes == [submission.pk] * 4
    assert [event.kind for event in log.events(run.id)] == ["run.frozen", "run.state"]
    assert [path.name for path in frozen.iterdir()] == [submission.sealed.name]
    assert log.events(run.id)[0].payload["sha256"] == submission.sha256
    assert Run.objects.get().state == RunState.SUBMITTED
    assert log.first_broken_link(run) is None


def test_tabs_and_a_worker_that_open_and_hand_in_at_once_leave_one_history(alice, make_run, frozen, monkeypatch):
    """FC-85: two prepare the run, two hand it in as soon as they may."""
    from fdegym.delivery import begin
    from fdegym.delivery.submit import submit_run

    for name in ("ensure_world", "materials_of", "note_given"):
        monkeypatch.setattr(begin, name, lambda *_: None)
    run = make_run(alice, state=RunState.PREPARING)

    def act(number: int) -> Any:
        if number < 2:
            return begin.prepare_run(run.id, ask=lambda run_id, materials: None).state
        return until(lambda: _unless_refused(lambda: submit_run(run.id).pk), "the run may be handed in")

    opened_a, opened_b, *handed_in = at_once(4, act)
    assert handed_in == [Submission.objects.get().pk] * 2
    assert {opened_a, opened_b} <= {RunState.PREPARING, RunState.OPEN, RunState.SUBMITTED}
    states = [event.payload["to"] for event in log.events(run.id, kinds=["run.state"])]
    assert states == ["open", "submitted"]
    assert log.first_broken_link(run) is None


def _unless_refused(act: Callable[[], Any]) -> Any:
    try:
        return act()
    except RunStateConflict:
        return None


@pytest.mark.parametrize(
    "payload",
    [
        {"value": 1e16},
        {"value": 1e22},
        {"value": 1e300},
        {"value": -0.0},
        {"value": 5e-324},
        {"value": 0.1},
        {"value": 100.0},
        {"value": 10**40},
        {"value": [1.5, {"deep": -1e17}]},
        {"text": "null \x00 in the middle"},
        {"key \x00": "zero"},
        {"text": "\ud800 half a pair"},
        {"text": "é 三 \U0001f600"},
    ],
    ids=ascii,
)
def test_what_a_store_spells_in_its_own_way_still_fits_the_chain(alice, make_run, payload):
    """PostgreSQL keeps numbers as decimals and no zero characters; SQLite keeps the text."""
    run = make_run(alice)
    event = log.append(run.id, "note", payload)
    assert log.first_broken_link(run) is None
    stored = RunEvent.objects.get(pk=event.pk)
    assert stored.payload == event.payload
    assert json.dumps(stored.payload, sort_keys=True) == json.dumps(event.payload, sort_keys=True)


def test_a_ticket_shown_by_many_at_once_lets_one_in(alice):
    facts = {"socket": "feed", "run_id": "a-run", "user": alice, "session_key": "session"}
    ticket = issue_ticket(**facts)
    outcomes = at_once(8, lambda _: redeem_ticket(ticket, **facts))
    assert len([outcome for outcome in outcomes if not isinstance(outcome, Exception)]) == 1
    assert len([outcome for outcome in outcomes if isinstance(outcome, TicketRefused)]) == 7, outcomes
