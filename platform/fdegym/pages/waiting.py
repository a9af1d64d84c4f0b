"""Waiting in the workbench: a wait that leads far is told before it is made. `ask --wait` takes it as it is written."""

from __future__ import annotations

from fdegym.runs.models import Run
from stakeholders import services as people
from stakeholders.calendar import words_for
from stakeholders.scripts import script_of


def far_ahead(run: Run, until: str, client_id: str) -> dict[str, str] | None:
    """Where a wait of more than a working day leads, in words; None for a shorter one or one that was made already.

    Raises ``WaitRefused``.
    """
    calendar, known = script_of(run).calendar, people.run_state(run.id)
    if calendar is None or known.now is None or client_id in known.requests:
        return None
    plan = calendar.plan_wait(known.now, until)
    if plan.working_minutes <= calendar.day_minutes:
        return None
    tenths = -(-10 * plan.working_minutes // calendar.day_minutes)  # rounded up: never "1 working days"
    return {"until": words_for(plan.until), "working_days": f"{tenths / 10:g}"}
