"""What several processes do at once. Runs on SQLite here and, through ``test_suites``, on PostgreSQL and Redis."""

from __future__ import annotations

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
from grading.queue import queue_submission
from tests.grading.conftest import Sealed

pytestmark = pytest.mark.django_db(transaction=True)


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


@pytest.mark.parametrize("round_", range(5))
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


def test_two_tabs_that_submit_at_once_make_one_submission(alice, make_run):
    """FC-83"""
    run = make_run(alice)

    def submit(number: int) -> Any:
        from django.db import transaction

        with transaction.atomic():
            log.append(run.id, "run.frozen", {"tab": number})
            transition(run.id, RunState.SUBMITTED)
            return queue_submission(run, Sealed(f"/nowhere/{number}", "a" * 64)).pk

    outcomes = at_once(4, submit)
    assert len([pk for pk in outcomes if isinstance(pk, int)]) == 1
    assert all(isinstance(outcome, int | RunStateConflict) for outcome in outcomes), outcomes
    assert Submission.objects.count() == 1
    assert [event.kind for event in log.events(run.id)] == ["run.frozen", "run.state"]


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
