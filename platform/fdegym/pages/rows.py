"""A person's runs as lists show them: state in words, score where there is one."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from fdegym.leaderboard.ranking import Result
from fdegym.leaderboard.results import results_of_runs
from fdegym.runs.models import Run, RunState

#: State → words, mark, style: never colour alone.
STATES = {
    RunState.PREPARING: ("being prepared", "○", "busy"),
    RunState.OPEN: ("open", "●", "busy"),
    RunState.SUBMITTED: ("being graded", "○", "busy"),
    RunState.GRADED: ("graded", "✓", ""),
    RunState.VOID: ("void: our fault", "▲", "warn"),
    RunState.FAILED: ("not prepared", "▲", "warn"),
}


@dataclass(frozen=True, slots=True)
class RunRow:
    id: uuid.UUID
    scenario_id: str
    customer: str
    level: str
    attempt: int
    begun_at: datetime
    submitted_at: datetime | None
    state: str
    state_words: str
    state_mark: str
    state_style: str
    is_ranked: bool
    training: bool
    score: Decimal | None
    resolved: bool
    time_used: timedelta | None


@dataclass(frozen=True, slots=True)
class Progress:
    """What a person did at one customer."""

    scenario_id: str
    customer: str
    runs: int
    ranked: Decimal | None
    best: Decimal | None
    resolved: bool
    live: bool


def _row(run: Run, customer: str, result: Result | None) -> RunRow:
    words, mark, style = STATES[RunState(run.state)]
    if result is not None and result.resolved:
        words, style = "graded, resolved", "good"
    return RunRow(
        id=run.id,
        scenario_id=run.scenario_id,
        customer=customer,
        level=run.level,
        attempt=run.attempt,
        begun_at=run.begun_at,
        submitted_at=run.submitted_at,
        state=run.state,
        state_words=words,
        state_mark=mark,
        state_style=style,
        is_ranked=run.is_ranked,
        training=run.training,
        score=result.score if result else None,
        resolved=bool(result and result.resolved),
        time_used=run.time_used,
    )


def rows_of(runs: Sequence[Run], customers: Mapping[str, str]) -> list[RunRow]:
    """One query for the grades of all of them."""
    results = results_of_runs(runs)
    return [_row(run, customers.get(run.scenario_id, run.scenario_id), results.get(run.id)) for run in runs]


def progress_of(rows: Iterable[RunRow]) -> list[Progress]:
    """By customer, the one visited last first (``rows`` are latest first)."""
    by_scenario: dict[str, list[RunRow]] = {}
    for row in rows:
        by_scenario.setdefault(row.scenario_id, []).append(row)
    return [
        Progress(
            scenario_id=scenario_id,
            customer=own[0].customer,
            runs=len(own),
            ranked=next((row.score for row in own if row.is_ranked), None),
            best=max((row.score for row in own if row.score is not None), default=None),
            resolved=any(row.resolved for row in own),
            live=any(row.state in (RunState.PREPARING, RunState.OPEN) for row in own),
        )
        for scenario_id, own in by_scenario.items()
    ]
