"""The run's state machine."""

from __future__ import annotations

import uuid

from django.db import transaction
from django.utils import timezone

from fdegym.lib.errors import RunStateConflict
from fdegym.runs import log
from fdegym.runs.models import Run, RunState

MOVES: dict[str, frozenset[str]] = {
    RunState.PREPARING: frozenset({RunState.OPEN, RunState.FAILED}),
    RunState.OPEN: frozenset({RunState.SUBMITTED, RunState.FAILED}),
    RunState.SUBMITTED: frozenset({RunState.GRADED, RunState.VOID}),
    RunState.GRADED: frozenset(),
    RunState.VOID: frozenset({RunState.GRADED}),
    RunState.FAILED: frozenset({RunState.PREPARING}),
}


def transition(run_id: uuid.UUID | str, to: RunState, reason: str = "") -> Run:
    """Move the run to a state, locked, with an event; ``RunStateConflict`` if the move is not legal from where it is."""
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=run_id)
        if to not in MOVES[run.state]:
            raise RunStateConflict(f"This run is {RunState(run.state).label}; it cannot become {to.label}.")
        now = timezone.now()
        run.state, run.state_reason = to, reason[:500]
        if to == RunState.SUBMITTED:
            run.submitted_at = now
        if to in (RunState.GRADED, RunState.VOID, RunState.FAILED):
            run.ended_at = now
        log.append(run.id, "run.state", {"to": str(to), "reason": reason[:500]})
        if to == RunState.SUBMITTED:
            run.sealed_head, run.sealed_signature = log.sign_head(run)
        run.save()
    return run
