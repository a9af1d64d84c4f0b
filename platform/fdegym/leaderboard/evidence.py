"""What first runs of a scenario came to, in aggregate: the only thing a stranger may read of other people's runs."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from fdegym.leaderboard.intervals import interval_of
from fdegym.leaderboard.ranking import Result
from fdegym.leaderboard.results import ranked_counts, ranked_results
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
    return _summed(ranked_results(scenario_id, shown_only=False))


def evidence_by_scenario(scenario_ids: Iterable[str]) -> dict[str, Evidence]:
    """For the catalogue: one query, whatever the number of scenarios. Means are left to the scenario's own page."""
    counts = ranked_counts()
    found = {}
    for scenario_id in scenario_ids:
        runs, resolved = counts.get(scenario_id, (0, 0))
        found[scenario_id] = Evidence(runs=runs, resolved=resolved if runs >= SHOWN_FROM else 0)
    return found
