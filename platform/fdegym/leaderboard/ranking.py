"""The ranking rule, pure: results in, standings out. Every board is this rule on another selection of results.

Order: the higher score first, compared at the six decimals that are stored; equal scores: whoever reached it earlier,
by the time the delivery was handed in, not by when it was graded; equal to the microsecond: by the run's id, so that
the order is total and the same on every page.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from grading.score import floored_score

#: The limit under which agents work; people have none, so one board compares what both did within it.
AGENTS_LIMIT = timedelta(minutes=150)


@dataclass(frozen=True, slots=True)
class Result:
    """One graded run, as boards use it. ``person`` is the account's id; the name is looked up for rows that are shown."""

    run_id: uuid.UUID
    person: int
    scenario_id: str
    level: str
    attempt: int
    begun_at: datetime
    submitted_at: datetime
    uplift_adjusted: Decimal
    contact_cost: Decimal
    score: Decimal
    resolved: bool

    @property
    def time_used(self) -> timedelta:
        return self.submitted_at - self.begun_at

    @property
    def floored(self) -> Decimal:
        """What the run adds to a mean: one ruinous delivery must not outweigh all others."""
        return floored_score(self.uplift_adjusted, self.contact_cost)


@dataclass(frozen=True, slots=True)
class Standing:
    rank: int
    result: Result
    tied: bool  #: somebody else has the same score, and time decided


@dataclass(frozen=True, slots=True)
class OverallStanding:
    """A person over all scenarios. ``total`` counts a scenario not begun as 0, which is what doing nothing scores."""

    rank: int
    person: int
    total: Decimal  #: sum of floored scores / number of scenarios on offer
    begun: int
    resolved: int
    scores: tuple[Decimal, ...]  #: floored, one per begun scenario
    time_used: timedelta
    tied: bool


def _place(result: Result) -> tuple[Decimal, datetime, uuid.UUID]:
    return (-result.score, result.submitted_at, result.run_id)


def within_limit(results: Iterable[Result], limit: timedelta = AGENTS_LIMIT) -> list[Result]:
    return [result for result in results if result.time_used <= limit]


def best_per_person(results: Iterable[Result]) -> list[Result]:
    """Each person's best run of each scenario: the one that stands first among their own."""
    best: dict[tuple[int, str], Result] = {}
    for result in results:
        key = (result.person, result.scenario_id)
        if key not in best or _place(result) < _place(best[key]):
            best[key] = result
    return list(best.values())


def rank(results: Iterable[Result]) -> list[Standing]:
    """Standings of one scenario, one result per person."""
    ordered = sorted(results, key=_place)
    return [
        Standing(
            rank=index,
            result=result,
            tied=any(
                0 <= other < len(ordered) and ordered[other].score == result.score for other in (index - 2, index)
            ),
        )
        for index, result in enumerate(ordered, start=1)
    ]


def rank_overall(results: Iterable[Result], scenarios_on_offer: int) -> list[OverallStanding]:
    """Standings over all scenarios, from one result per person and scenario.

    Equal totals: whoever had handed in the last of the deliveries that make it up earlier.
    """
    by_person: dict[int, list[Result]] = {}
    for result in results:
        by_person.setdefault(result.person, []).append(result)
    offered = max(scenarios_on_offer, 1)
    rows: list[tuple[Decimal, datetime, int, Sequence[Result]]] = [
        (
            sum((one.floored for one in own), Decimal(0)) / offered,
            max(one.submitted_at for one in own),
            person,
            own,
        )
        for person, own in by_person.items()
    ]
    rows.sort(key=lambda row: (-row[0], row[1], row[2]))
    totals = [row[0] for row in rows]
    return [
        OverallStanding(
            rank=index,
            person=person,
            total=total,
            begun=len(own),
            resolved=sum(one.resolved for one in own),
            scores=tuple(sorted(one.floored for one in own)),
            time_used=sum((one.time_used for one in own), timedelta()),
            tied=any(0 <= other < len(totals) and totals[other] == total for other in (index - 2, index)),
        )
        for index, (total, _, person, own) in enumerate(rows, start=1)
    ]
