"""The ranking rule, pure: results in, standings out. Every board is this rule on another selection of results.

Order: the higher score first, compared at the six decimals that are stored; equal scores: whoever reached it earlier,
by the time the delivery was handed in, not by when it was graded; equal to the microsecond: by the run's id, so that
the order is total and the same on every page.
"""

from __future__ import annotations

import uuid
from bisect import bisect_left, insort
from collections.abc import Iterable
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
    opened_at: datetime  #: where the person's clock began
    submitted_at: datetime
    uplift_adjusted: Decimal
    contact_cost: Decimal
    score: Decimal
    resolved: bool

    @property
    def time_used(self) -> timedelta:
        return self.submitted_at - self.opened_at

    @property
    def is_within_limit(self) -> bool:
        return self.time_used <= AGENTS_LIMIT

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


def is_better(result: Result, than: Result) -> bool:
    """Whether it stands before the other."""
    return _place(result) < _place(than)


class Standings:
    """Of one scenario: one result per person, in order. A result is put in without ordering all others again."""

    def __init__(self, results: Iterable[Result] = ()) -> None:
        self._own = {result.person: result for result in results}
        self._order = sorted(self._own.values(), key=_place)

    def __len__(self) -> int:
        return len(self._order)

    def put(self, result: Result) -> None:
        """Add a person's result, in the place of the one they had."""
        former = self._own.get(result.person)
        if former is not None:
            del self._order[bisect_left(self._order, _place(former), key=_place)]
        self._own[result.person] = result
        insort(self._order, result, key=_place)

    def cut(self, first: int = 0, last: int | None = None) -> list[Standing]:
        """Those from place ``first``, counted from 0, to before ``last``."""
        return [self._standing(at) for at in range(len(self._order))[first:last]]

    def of(self, person: int) -> Standing | None:
        own = self._own.get(person)
        return None if own is None else self._standing(bisect_left(self._order, _place(own), key=_place))

    def results(self) -> list[Result]:
        return list(self._order)

    def _standing(self, at: int) -> Standing:
        result = self._order[at]
        beside = self._order[max(0, at - 1) : at] + self._order[at + 1 : at + 2]
        return Standing(at + 1, result, any(other.score == result.score for other in beside))


class OverallStandings:
    """Over all scenarios on offer, from one result per person and scenario.

    Equal totals: whoever had handed in the last of the deliveries that make it up earlier.
    """

    def __init__(self, offered: int, results: Iterable[Result] = ()) -> None:
        self._offered = max(offered, 1)
        self._own: dict[int, dict[str, Result]] = {}
        for result in results:
            self._own.setdefault(result.person, {})[result.scenario_id] = result
        self._order = sorted(self._row(person) for person in self._own)

    def __len__(self) -> int:
        return len(self._order)

    def _row(self, person: int) -> tuple[Decimal, datetime, int]:
        own = self._own[person].values()
        total = sum((one.floored for one in own), Decimal(0)) / self._offered
        return -total, max(one.submitted_at for one in own), person

    def put(self, result: Result) -> None:
        """Add a person's result of a scenario, in the place of the one they had."""
        if result.person in self._own:
            del self._order[bisect_left(self._order, self._row(result.person))]
        self._own.setdefault(result.person, {})[result.scenario_id] = result
        insort(self._order, self._row(result.person))

    def cut(self, first: int = 0, last: int | None = None) -> list[OverallStanding]:
        """Those from place ``first``, counted from 0, to before ``last``."""
        return [self._standing(at) for at in range(len(self._order))[first:last]]

    def of(self, person: int) -> OverallStanding | None:
        return self._standing(bisect_left(self._order, self._row(person))) if person in self._own else None

    def _standing(self, at: int) -> OverallStanding:
        lost, _, person = self._order[at]
        beside = self._order[max(0, at - 1) : at] + self._order[at + 1 : at + 2]
        own = self._own[person].values()
        return OverallStanding(
            rank=at + 1,
            person=person,
            total=-lost,
            begun=len(own),
            resolved=sum(one.resolved for one in own),
            scores=tuple(sorted(one.floored for one in own)),
            time_used=sum((one.time_used for one in own), timedelta()),
            tied=any(other[0] == lost for other in beside),
        )
