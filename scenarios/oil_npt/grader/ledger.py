"""What the contractor owes for each stop: gross hours, allowance, recurrence and the credit per calendar month.

Pure arithmetic on the truth. The grader holds claims against it, and the world writes statements and past responses
by it, so that history and production follow one contract. All hours are multiples of a quarter and so exact floats.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Literal

from scenarios.oil_npt.world.stoppages import Segment, Stoppage, Version

AMENDMENT_2_FROM = date(2026, 7, 1)
NO_JOB_ALLOWANCE_H = 99.0  #: a job allowance that only the month's limits

Clock = Literal["resume", "repair", "accept"]
Interval = tuple[datetime, datetime]

_COUNTED_PARTS: Mapping[Clock, frozenset[str]] = {
    "resume": frozenset({"trip_out", "repair", "own_use", "return"}),
    "repair": frozenset({"repair"}),
    "accept": frozenset({"trip_out", "repair"}),
}


@dataclass(frozen=True, slots=True)
class Terms:
    """The credit clauses under which one rig stands on one day."""

    clock: Clock
    own_use: Literal["deduct", "none"]  #: "none": nothing is taken off
    job_allowance_h: float
    month_allowance_h: float
    recurrence_days: int  #: 0: a repeated failure is a failure like any other
    binding: Literal["last_joint", "first"]  #: which revision of a report is the record
    charged_to: Literal["job", "hours"] = (
        "job"  #: whose month loses the allowance: the job's first, or that of the hours
    )

    def counts(self, segment: Segment) -> bool:
        """Whether the contractor stands in for this part of a stop."""
        if segment.part == "own_use" and self.own_use == "deduct":
            return False
        return segment.part in _COUNTED_PARTS[self.clock]


@dataclass(frozen=True, slots=True)
class Credit:
    """One contractor's stop as the contract settles it."""

    stoppage: Stoppage
    terms: Terms
    version: Version  #: the binding one
    recurring: bool
    used_before_h: float  #: allowance that the rig had used in that calendar month when this job started
    allowance_h: float
    counted: tuple[Interval, ...]  #: what the clock counts, own use taken off where the terms say so
    credited: tuple[Interval, ...]  #: ``counted`` without the first ``allowance_h``

    @property
    def start(self) -> datetime:
        return self.version.segments[0].start

    @property
    def resumed(self) -> datetime:
        return self.version.segments[-1].end

    @property
    def gross_h(self) -> float:
        return total_hours(self.counted)

    @property
    def credit_h(self) -> float:
        return total_hours(self.credited)

    @property
    def own_use_h(self) -> float:
        return sum(segment.hours for segment in self.version.segments if segment.part == "own_use")

    def credit_in(self, month: date) -> float:
        """Creditable hours in the calendar month whose first day is ``month``."""
        return total_hours(within(self.credited, month))

    def months(self) -> list[date]:
        """The first days of the calendar months in which hours are creditable, in order."""
        return sorted({month_of(moment) for interval in self.credited for moment in _days_touched(interval)})


def ledger(stoppages: Iterable[Stoppage], facts: Mapping[str, Any]) -> list[Credit]:
    """Settle every contractor's stop in time order, rig by rig.

    ``stoppages`` may hold all kinds and rigs in any order; those of the 14 days before the first month of interest
    must be in it, or a recurring failure looks like a first one.
    """
    settled: list[Credit] = []
    used: dict[tuple[str, date], float] = {}
    resumed: dict[tuple[str, str], datetime] = {}
    for stoppage, version, terms in _in_time_order(stoppages, facts):
        start = version.segments[0].start
        counted = _merged(tuple((part.start, part.end) for part in version.segments if terms.counts(part)))
        before = resumed.get((stoppage.rig, stoppage.tag))
        window = timedelta(days=terms.recurrence_days)
        recurring = bool(terms.recurrence_days) and before is not None and before >= start - window
        used_before = used.get((stoppage.rig, month_of(start)), 0.0)
        allowance = 0.0
        credited: tuple[Interval, ...] = ()
        for month, hours in _charges(counted, month_of(start), terms):
            spent = used.get((stoppage.rig, month), 0.0)
            left = max(0.0, terms.month_allowance_h - spent)
            taken = 0.0 if recurring else min(terms.job_allowance_h, total_hours(hours), left)
            used[stoppage.rig, month] = spent + taken
            allowance += taken
            credited += without_first(hours, taken)
        end = version.segments[-1].end
        resumed[stoppage.rig, stoppage.tag] = end if before is None else max(before, end)
        settled.append(Credit(stoppage, terms, version, recurring, used_before, allowance, counted, _merged(credited)))
    return settled


def terms_on(rig: str, day: date, facts: Mapping[str, Any]) -> Terms:
    """The terms of ``rig`` on ``day``: the old ones before Amendment 2 and for contractors who kept them."""
    old = (
        day < AMENDMENT_2_FROM or not facts["amendment_2_in_force"] or contractor(rig) in facts["old_terms_contractors"]
    )
    if old:
        return Terms("repair", "none", NO_JOB_ALLOWANCE_H, 12.0, 0, facts["binding"], charged_to="hours")
    return Terms(
        clock=facts["clock"],
        own_use=facts["own_use"],
        job_allowance_h=float(facts["job_allowance_h"]),
        month_allowance_h=float(facts["month_allowance_h"]),
        recurrence_days=int(facts["recurrence_days"]),
        binding=facts["binding"],
    )


def contractor(rig: str) -> str:
    """The contractor's letters of a rig: ``HD-11`` → ``HD``."""
    return rig.partition("-")[0]


def month_of(moment: date | datetime) -> date:
    """The first day of the calendar month of ``moment``."""
    return date(moment.year, moment.month, 1)


def next_month(month: date) -> date:
    return (month.replace(day=1) + timedelta(days=32)).replace(day=1)


def total_hours(intervals: Iterable[Interval]) -> float:
    return sum((end - start).total_seconds() for start, end in intervals) / 3600


def within(intervals: Iterable[Interval], month: date) -> tuple[Interval, ...]:
    """The parts of the intervals that lie in the calendar month whose first day is ``month``."""
    first = datetime.combine(month, time())
    last = datetime.combine(next_month(month), time())
    return tuple((max(start, first), min(end, last)) for start, end in intervals if start < last and end > first)


def without_first(intervals: tuple[Interval, ...], hours: float) -> tuple[Interval, ...]:
    """The intervals without their first ``hours`` hours."""
    left = timedelta(hours=hours)
    kept: list[Interval] = []
    for start, end in intervals:
        taken = min(left, end - start)
        left -= taken
        if start + taken < end:
            kept.append((start + taken, end))
    return tuple(kept)


def _charges(counted: tuple[Interval, ...], job_month: date, terms: Terms) -> list[tuple[date, tuple[Interval, ...]]]:
    """Which hours count against the allowance of which month."""
    if terms.charged_to == "job":
        return [(job_month, counted)]
    months = sorted({month_of(day) for interval in counted for day in _days_touched(interval)})
    return [(month, within(counted, month)) for month in months]


def _in_time_order(stoppages: Iterable[Stoppage], facts: Mapping[str, Any]) -> list[tuple[Stoppage, Version, Terms]]:
    entries = []
    for stoppage in stoppages:
        if stoppage.kind != "C":
            continue
        version = stoppage.version(facts["binding"])
        terms = terms_on(stoppage.rig, version.segments[0].start.date(), facts)
        entries.append((stoppage, version, terms))
    return sorted(entries, key=lambda entry: (entry[0].rig, entry[1].segments[0].start))


def _merged(intervals: tuple[Interval, ...]) -> tuple[Interval, ...]:
    merged: list[Interval] = []
    for start, end in intervals:
        if start == end:
            continue
        if merged and merged[-1][1] == start:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(merged)


def _days_touched(interval: Interval) -> list[date]:
    start, end = interval
    last = (end - timedelta(microseconds=1)).date()
    return [start.date() + timedelta(days=offset) for offset in range((last - start.date()).days + 1)]
