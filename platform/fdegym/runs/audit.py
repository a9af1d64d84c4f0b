"""What a run's log shows about itself and about the run's row, without trusting either.

Each function takes the run and all its events in order and returns what is not so, in words for somebody who reads no
code, or "" where all is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from fdegym.runs import log
from fdegym.runs.models import Run, RunEvent, RunState
from fdegym.runs.services import may_move


def broken_chain(run: Run, events: Sequence[RunEvent]) -> str:
    """Whether each event follows from the one before: none edited, removed or moved since the chain was computed."""
    previous = log.genesis(run.id, run.release)
    for expected, event in enumerate(events, start=1):
        if event.seq != expected:
            return f"Event {expected} is missing: the log goes from {expected - 1} to {event.seq}."
        if log.link(previous, event.seq, event.kind, event.payload, event.at) != event.hash:
            return (
                f"Event {expected} ({event.kind}) does not follow from the one before: it, its time or its place was "
                "changed after it was written, or the run's id or release was."
            )
        previous = event.hash
    return ""


def unsigned_event(events: Sequence[RunEvent]) -> str:
    """Whether this site's key signed every event as it was written."""
    wrong = [event for event in events if not log.event_is_signed(event)]
    if not wrong:
        return ""
    first = wrong[0]
    if not first.signature:
        return f"Event {first.seq} ({first.kind}) carries no signature: the site did not write it."
    words = f"The signature of event {first.seq} ({first.kind}) was not made with a key of this site"
    if len(wrong) == len(events):
        return f"{words}, nor was any other: if the key was replaced, FDEGYM_OLD_KEYS must hold the one of then."
    return f"{words}: whoever wrote it had the database, not the key."


def broken_seal(run: Run, events: Sequence[RunEvent]) -> str:
    """Whether the head that was signed when the run was handed in is the log's event of handing in."""
    handed_in = submission_event(events)
    if handed_in is None:
        return "The run's head is sealed, but the log has no submission." if run.sealed_head else ""
    if run.sealed_head != handed_in.hash:
        return f"The sealed head is not that of event {handed_in.seq}, with which the run was handed in."
    if not log.signature_fits(run, run.sealed_head, run.sealed_signature):
        return "The seal's signature was not made with a key of this site, or not for this run and head."
    return ""


def wrong_course(run: Run, events: Sequence[RunEvent]) -> str:
    """Whether the row says of the run what its log says, and the log holds no move or contact that could not be."""
    return _wrong_beginning(run, events) or _wrong_moves(run, events)


def submission_event(events: Sequence[RunEvent]) -> RunEvent | None:
    """The event with which the run was handed in."""
    moves = (event for event in events if event.kind == "run.state")
    return next((event for event in moves if event.payload.get("to") == RunState.SUBMITTED), None)


def _wrong_beginning(run: Run, events: Sequence[RunEvent]) -> str:
    if not events or events[0].kind != "run.begun" or any(event.kind == "run.begun" for event in events[1:]):
        return "A log begins with the event of its beginning, and has it once; this one does not."
    row = {
        "level": run.level,
        "attempt": run.attempt,
        "scenario": run.scenario_id,
        "origin": run.origin,
        "account": run.user_id,
        "begun_at": log.instant(run.begun_at),
    }
    begun = events[0].payload
    for key, value in row.items():
        if begun.get(key) != value:
            return f"The run's {key.replace('_', ' ')} is {value!r} in its row, {begun.get(key)!r} in the log."
    if begun.get("training", False) != run.training:
        return f"The run's row says {'training' if run.training else 'no training'}, and its log does not."
    if "task" in begun and not log.seal_fits(run.id, f"task {run.task_id}", begun["task"]):
        return f"The run's task is {run.task_id!r} in its row; the log was begun with another, or with another key."
    return ""


def _wrong_moves(run: Run, events: Sequence[RunEvent]) -> str:
    seen = Run(id=run.id, origin=run.origin, state=RunState.PREPARING)
    at: dict[str, datetime | None] = {"opened_at": None, "submitted_at": None, "ended_at": None}
    for event in events:
        if event.kind.startswith(("contact.", "trial.")) and seen.state != RunState.OPEN:
            return f"Event {event.seq} is a contact, but the run was {RunState(seen.state).label} then."
        if event.kind != "run.state":
            continue
        to = str(event.payload.get("to"))
        if to not in RunState.values or not may_move(seen, to):
            return f"Event {event.seq} takes the run from {seen.state} to {to}, which cannot be."
        seen.state, seen.state_reason = to, str(event.payload.get("reason"))
        if to == RunState.OPEN:
            at["opened_at"] = event.at
        elif to == RunState.SUBMITTED:
            at["submitted_at"] = event.at
        elif to in (RunState.GRADED, RunState.VOID, RunState.FAILED):
            at["ended_at"] = event.at
    if run.state != seen.state:
        return f"The run's state is {run.state!r} in its row, {str(seen.state)!r} in the log."
    if log.storable(run.state_reason) != seen.state_reason:
        return f"The reason of the run's state is {run.state_reason!r} in its row, {seen.state_reason!r} in the log."
    for name, moment in at.items():
        if getattr(run, name) != moment:
            return f"The run's {name.replace('_', ' ')} is {getattr(run, name)} in its row, {moment} in the log."
    return ""
