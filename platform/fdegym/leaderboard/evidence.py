"""What first runs of a scenario came to, in aggregate: the only thing a stranger may read of other people's runs."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from fdegym.leaderboard.intervals import interval_of
from fdegym.leaderboard.kept import KEPT
from fdegym.leaderboard.ranking import Result
from grading.statistics import Interval

#: Below this many runs a mean would give away single people's scores.
SHOWN_FROM = 5


@dataclass(frozen=True, slots=True)
class Evidence:
    """Figures over ranked runs, on all tasks and levels. ``mean`` and ``median_time`` are None below ``SHOWN_FROM``."""

    runs: int
    resolved: int = 0
    mean: Interval | None = None
    median_time: timedelta | None = None
    shown_from: int = SHOWN_FROM

    @property
    def is_shown(self) -> bool:
        return self.runs >= self.shown_from


def _summed(results: list[Result]) -> Evidence:
    if len(results) < SHOWN_FROM:
        return Evidence(runs=len(results))
    return Evidence(
        runs=len(results),
        resolved=sum(result.resolved for result in results),
        mean=interval_of(result.floored for result in results),
        median_time=timedelta(seconds=statistics.median(one.time_used.total_seconds() for one in results)),
    )


def evidence_of(scenario_id: str) -> Evidence:
    """Everybody's first run counts here, also of people who are on no board: no name is near it."""
    with KEPT.current() as kept:
        return kept.figure(
            ("evidence", scenario_id),
            lambda: _summed([one for one in kept.first.values() if one.scenario_id == scenario_id]),
        )


def evidence_by_scenario(scenario_ids: Iterable[str]) -> dict[str, Evidence]:
    """For the catalogue: all at once. Means are left to the scenario's own page."""
    with KEPT.current() as kept:
        runs, resolved = kept.figure(("counts",), lambda: _counted(kept.first.values()))
    return {
        scenario_id: Evidence(
            runs=runs[scenario_id], resolved=resolved[scenario_id] if runs[scenario_id] >= SHOWN_FROM else 0
        )
        for scenario_id in scenario_ids
    }


def _counted(results: Iterable[Result]) -> tuple[Counter[str], Counter[str]]:
    """Scenario → number of results, and of those that resolved it."""
    runs: Counter[str] = Counter()
    resolved: Counter[str] = Counter()
    for result in results:
        runs[result.scenario_id] += 1
        resolved[result.scenario_id] += result.resolved
    return runs, resolved
