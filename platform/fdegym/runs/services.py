"""The run's state machine."""

from __future__ import annotations

import uuid

from django.db import transaction

from fdegym.lib.errors import RunStateConflict
from fdegym.runs import log
from fdegym.runs.models import Run, RunOrigin, RunState

MOVES: dict[str, frozenset[str]] = {
    RunState.PREPARING: frozenset({RunState.OPEN, RunState.FAILED}),
    RunState.OPEN: frozenset({RunState.SUBMITTED, RunState.FAILED}),
    RunState.SUBMITTED: frozenset({RunState.GRADED, RunState.VOID}),
    RunState.GRADED: frozenset(),
    RunState.VOID: frozenset({RunState.GRADED}),
    RunState.FAILED: frozenset(),
}


def may_move(run: Run, to: str) -> bool:
    """Whether the move is legal from where the run is.

    Only a command's open run can fail. A person has seen the customer by then: their run is graded as it stands, or the
    next one would count as the first.
    """
    if run.state == RunState.OPEN and to == RunState.FAILED and run.origin != RunOrigin.COMMAND:
        return False
    return to in MOVES[run.state]


def transition(run_id: uuid.UUID | str, to: RunState, reason: str = "") -> Run:
    """Move the run to a state, locked, with an event; ``RunStateConflict`` if the move is not legal from where it is."""
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
        if not may_move(run, to):
            raise RunStateConflict(f"This run is {RunState(run.state).label}; it cannot become {to.label}.")
        moved = log.append(run.id, "run.state", {"to": str(to), "reason": reason[:500]})
        run.state, run.state_reason = to, reason[:500]
        if to == RunState.OPEN:
            run.opened_at = moved.at
        if to == RunState.SUBMITTED:
            run.submitted_at = moved.at
            run.sealed_head, run.sealed_signature = log.sign_head(run)
        if to in (RunState.GRADED, RunState.VOID, RunState.FAILED):
            run.ended_at = moved.at
        run.save()
    return run
