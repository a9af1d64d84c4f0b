"""A log or row that was tampered with is found by ``manage.py audit``, named in words, and ends it with status 1."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fdegym.runs import log
from fdegym.runs.models import Run, RunEvent
from grading.worlds import ensure_world
from scenarios.kit.load import load_scenario
from tests.audit.asking import event_of, not_so, rechained

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("number", range(1, 9))
def test_an_event_edited(number: int, alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    event = RunEvent.objects.get(run=run, seq=number)
    event.payload = {**event.payload, "charge": "0", "to": "graded"}
    event.save()
    assert not_so(run) == (
        "chain",
        f"Event {number} ({event.kind}) does not follow from the one before: it, its time or its place was changed "
        "after it was written, or the run's id or release was.",
    )


def test_the_time_of_an_event_edited(alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    event = event_of(run, "run.state")
    event.at = event.at.replace(microsecond=(event.at.microsecond + 1) % 1_000_000)
    event.save()
    assert not_so(run)[0] == "chain"


@pytest.mark.parametrize("number", [1, 4, 5])
def test_an_event_removed(number: int, alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    RunEvent.objects.filter(run=run, seq=number).delete()
    check, words = not_so(run)
    assert check == "chain"
    assert words.startswith(f"Event {number} is missing")


def test_two_events_in_each_others_places(alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    for seq, other in ((4, 99), (5, 4), (99, 5)):
        RunEvent.objects.filter(run=run, seq=seq).update(seq=other)
    check, words = not_so(run)
    assert (check, words[:27]) == ("chain", "Event 4 (contact.message) d")


def test_an_event_edited_and_the_chain_computed_anew(alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    event = event_of(run, "contact.message")
    event.payload = {**event.payload, "charge": "0"}
    event.save()
    rechained(run)
    assert log.first_broken_link(run) is None
    assert not_so(run) == (
        "signatures",
        f"The signature of event {event.seq} (contact.message) was not made with a key of this site: whoever wrote it "
        "had the database, not the key.",
    )


@pytest.mark.parametrize("signature", ["", "made up", "of another event"])
def test_an_event_appended_without_a_signature(signature: str, alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    seq, previous = log.head(run)
    first = event_of(run, "contact.message")
    payload = {"number": 2, "score": "1.000000"}
    RunEvent.objects.create(
        run=run,
        seq=seq + 1,
        kind="grade.added",
        payload=payload,
        at=first.at,
        hash=log.link(previous, seq + 1, "grade.added", payload, first.at),
        signature=first.signature if signature == "of another event" else signature,
    )
    check, words = not_so(run)
    assert check == "signatures"
    assert f"vent {seq + 1} (grade.added)" in words


def test_the_log_of_another_run_put_in_place_of_this_one(alice: Any, bob: Any, graded: Callable[..., Run]) -> None:
    mine, better = graded(alice, kpi=2.0), graded(bob)
    RunEvent.objects.filter(run=mine).delete()
    RunEvent.objects.filter(run=better).update(run=mine)
    assert not_so(mine)[0] == "chain"
    rechained(mine)
    assert not_so(mine)[0] == "signatures"


@pytest.mark.parametrize("signed", [False, True])
def test_the_sealed_head_replaced(signed: bool, alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    other = event_of(run, "contact.message").hash
    Run.objects.filter(pk=run.pk).update(
        sealed_head=other, sealed_signature=log.sign_head(run)[1] if signed else run.sealed_signature
    )
    check, words = not_so(run)
    assert check == "seal"
    assert "not that of event" in words


def test_the_seals_signature_replaced(alice: Any, bob: Any, graded: Callable[..., Run]) -> None:
    run, other = graded(alice), graded(bob)
    for signature in ("", "x", other.sealed_signature):
        Run.objects.filter(pk=run.pk).update(sealed_signature=signature)
        assert not_so(run) == (
            "seal",
            "The seal's signature was not made with a key of this site, or not for this run and head.",
        )


def test_a_log_cut_short_after_the_submission(alice: Any, graded: Callable[..., Run]) -> None:
    """The events that follow the seal are its grade's: without them the row of the run, or of the grade, stands alone."""
    run = graded(alice)
    last = log.head(run)[0]
    RunEvent.objects.filter(run=run, seq=last).delete()
    assert not_so(run) == ("course", "The run's state is 'graded' in its row, 'submitted' in the log.")
    Run.objects.filter(pk=run.pk).update(state="submitted", state_reason="person", ended_at=None)
    RunEvent.objects.filter(run=run, seq=last - 1).delete()
    assert not_so(run) == ("grades", "The grades are 1, the log has added none.")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"attempt": 2}, "attempt is 2 in its row, 1 in the log"),
        ({"level": "L0"}, "level is 'L0' in its row, 'L3' in the log"),
        ({"origin": "command"}, "origin is 'command' in its row, 'person' in the log"),
        ({"task_id": "kept"}, "task is 'kept' in its row; the log was begun with another"),
        ({"task_id": "no_such_task"}, "task is 'no_such_task' in its row"),
        (
            {"state_reason": "The customer was unfair."},
            "reason of the run's state is 'The customer was unfair.' in its",
        ),
        ({"state": "void"}, "state is 'void' in its row, 'graded' in the log"),
        ({"begun_at": "2026-01-01T00:00:00Z"}, "begun at is"),
        ({"submitted_at": "2026-01-01T00:00:00Z"}, "submitted at is"),
        ({"ended_at": None}, "ended at is None"),
    ],
)
def test_the_row_of_the_run_edited(change: dict[str, Any], words: str, alice: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    Run.objects.filter(pk=run.pk).update(**change)
    check, said = not_so(run)
    assert check == "course"
    assert words in said


def test_a_run_given_to_somebody_else(alice: Any, bob: Any, graded: Callable[..., Run]) -> None:
    run = graded(alice)
    Run.objects.filter(pk=run.pk).update(user=bob)
    assert "account is" in not_so(run)[1]


def test_a_run_taken_for_one_of_another_task_or_release(alice: Any, graded: Callable[..., Run], market: Path) -> None:
    run = graded(alice)
    ensure_world(load_scenario(market), "kept")
    Run.objects.filter(pk=run.pk).update(task_id="kept")
    assert not_so(run)[0] == "course"
    Run.objects.filter(pk=run.pk).update(task_id="original", release="0" * 64)
    assert not_so(run)[0] == "chain"


def test_a_contact_after_the_run_was_handed_in(alice: Any, graded: Callable[..., Run]) -> None:
    """Signed, as only the site can: still it cannot be."""
    run = graded(alice)
    log.append(run.id, "contact.message", dict(event_of(run, "contact.message").payload))
    assert "is a contact, but the run was graded then" in not_so(run)[1]


def test_an_earlier_run_removed_so_that_a_later_one_would_be_the_first(alice: Any, graded: Callable[..., Run]) -> None:
    first, second = graded(alice, kpi=1.0), graded(alice)
    Run.objects.filter(pk=first.pk).delete()
    assert not_so(second) == ("earlier runs", "The person's attempt 1 of this scenario is gone.")
