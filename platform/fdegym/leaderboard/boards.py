"""The rows of a board: one page of the standings, with names, and the viewer's own row always among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from fdegym.accounts.models import User
from fdegym.leaderboard.evidence import SHOWN_FROM
from fdegym.leaderboard.intervals import interval_of
from fdegym.leaderboard.kept import KEPT
from fdegym.leaderboard.ranking import OverallStanding, Result, Standing
from grading.score import RESOLVED_AT
from grading.statistics import Interval

ROWS_PER_PAGE = 50

#: View → name of its tab, what it counts.
VIEWS = {
    "ranked": ("Ranked", "First begun runs only, on any task and level."),
    "150": (
        "Within 150 minutes",
        "First begun runs that were handed in within 150 minutes, the limit under which agents work.",
    ),
    "best": (
        "Best of all runs",
        "Each person’s best run. Later runs know the customer: this is not comparable with the ranked board.",
    ),
}


@dataclass(frozen=True, slots=True)
class Ladder:
    """An interval drawn on the scale from −1 to +1, in thousandths of the width; without an interval, a point."""

    point: float
    low: float | None
    high: float | None
    zero: float
    threshold: float


@dataclass(frozen=True, slots=True)
class ScenarioRow:
    rank: int
    tied: bool
    name: str
    mine: bool
    score: Decimal
    resolved: bool
    level: str
    attempt: int
    time_used: timedelta
    submitted_at: datetime
    ladder: Ladder


@dataclass(frozen=True, slots=True)
class OverallRow:
    rank: int
    tied: bool
    name: str
    mine: bool
    total: Decimal
    begun: int
    resolved: int
    interval: Interval
    time_used: timedelta
    ladder: Ladder


@dataclass(frozen=True, slots=True)
class Summary:
    runs: int
    resolved: int
    mean: Interval


@dataclass(frozen=True, slots=True)
class Board:
    rows: Sequence[ScenarioRow | OverallRow]
    page: int
    pages: int
    summary: Summary | None


def _at(value: float) -> float:
    """−1 to +1 with a tenth to spare on both sides, so that a point on either end is drawn whole."""
    return round((min(max(value, -1.05), 1.05) + 1.1) / 2.2 * 1000.0, 1)


def _ladder(mean: float, low: float | None = None, high: float | None = None) -> Ladder:
    return Ladder(
        point=_at(mean),
        low=None if low is None else _at(low),
        high=None if high is None else _at(high),
        zero=_at(0.0),
        threshold=_at(float(RESOLVED_AT)),
    )


def _cut(standings: Any, page: int, viewer_id: int | None) -> tuple[list[Any], int, int]:
    """One page of the standings; the viewer's own, if on another page, is put where its rank belongs: first or last."""
    pages = max(1, -(-len(standings) // ROWS_PER_PAGE))
    page = min(max(page, 1), pages)
    shown = standings.cut((page - 1) * ROWS_PER_PAGE, page * ROWS_PER_PAGE)
    mine = standings.of(viewer_id) if viewer_id is not None else None
    if mine is not None and mine not in shown:
        shown.insert(0 if mine.rank < shown[0].rank else len(shown), mine)
    return shown, page, pages


def _names(people: set[int]) -> dict[int, str]:
    return {user.pk: user.shown_name for user in User.objects.filter(pk__in=people).only("username", "display_name")}


def scenario_board(scenario_id: str, view: str, page: int, viewer: User | None) -> Board:
    """A fixed number of queries, whatever the number of people and runs."""
    viewer_id = viewer.pk if viewer else None
    with KEPT.current() as kept:
        standings = kept.standings(view, scenario_id)
        summary = kept.figure(("summary", view, scenario_id), lambda: _summary(standings.results()))
        shown, page, pages = _cut(standings, page, viewer_id)
    names = _names({one.result.person for one in shown})
    rows = [_scenario_row(one, names, viewer_id) for one in shown]
    return Board(rows, page, pages, summary)


def _summary(results: Sequence[Result]) -> Summary | None:
    if len(results) < SHOWN_FROM:
        return None
    resolved = sum(result.resolved for result in results)
    return Summary(len(results), resolved, interval_of(result.floored for result in results))


def _scenario_row(standing: Standing, names: dict[int, str], viewer_id: int | None) -> ScenarioRow:
    result = standing.result
    return ScenarioRow(
        rank=standing.rank,
        tied=standing.tied,
        name=names.get(result.person, ""),
        mine=result.person == viewer_id,
        score=result.score,
        resolved=result.resolved,
        level=result.level,
        attempt=result.attempt,
        time_used=result.time_used,
        submitted_at=result.submitted_at,
        ladder=_ladder(float(result.score)),
    )


def overall_board(scenario_ids: Sequence[str], view: str, page: int, viewer: User | None) -> Board:
    """A fixed number of queries. Intervals are drawn for the people on this page alone."""
    viewer_id = viewer.pk if viewer else None
    with KEPT.current() as kept:
        shown, page, pages = _cut(kept.overall(view, frozenset(scenario_ids)), page, viewer_id)
    names = _names({one.person for one in shown})
    rows = [_overall_row(one, names, viewer_id) for one in shown]
    return Board(rows, page, pages, None)


def _overall_row(standing: OverallStanding, names: dict[int, str], viewer_id: int | None) -> OverallRow:
    interval = interval_of(standing.scores)
    return OverallRow(
        rank=standing.rank,
        tied=standing.tied,
        name=names.get(standing.person, ""),
        mine=standing.person == viewer_id,
        total=standing.total,
        begun=standing.begun,
        resolved=standing.resolved,
        interval=interval,
        time_used=standing.time_used,
        ladder=_ladder(interval.mean, interval.low, interval.high),
    )
