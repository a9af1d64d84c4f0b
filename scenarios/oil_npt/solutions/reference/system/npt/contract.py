"""The credit clauses as terms per contractor and date, and what they give for each stop.

Terms stand in ``config/contract.toml``; the latest that names the contractor and is in force on the day of the stop
applies. All times are field time; hours come in quarters.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path

from npt.stops import Stop

CONFIG = Path("config")
Interval = tuple[datetime, datetime]


@dataclass(frozen=True)
class Terms:
    """One set of credit clauses. ``counted`` names the parts of a stop that the contractor stands in for."""

    clause: str
    contractors: frozenset[str]
    since: date
    counted: frozenset[str]
    job_allowance_h: float
    month_allowance_h: float
    recurrence_days: int
    charged_to: (
        str  # "job": the month in which the job begins loses the allowance; "hours": each month for its own hours
    )


@dataclass(frozen=True)
class Settlement:
    """A contractor's stop with its allowance taken off. ``credited`` are the hours due, as intervals."""

    stop: Stop
    terms: Terms
    gross_h: float
    allowance_h: float
    recurring: bool
    credited: tuple[Interval, ...]


def load_terms(config: Path = CONFIG) -> list[Terms]:
    """The terms of the contract file, oldest first."""
    with (config / "contract.toml").open("rb") as file:
        rows = tomllib.load(file)["terms"]
    terms = [
        Terms(
            clause=row["clause"],
            contractors=frozenset(row["contractors"]),
            since=row["since"],
            counted=frozenset(row["counted"]),
            job_allowance_h=row.get("job_allowance_h", float("inf")),
            month_allowance_h=row["month_allowance_h"],
            recurrence_days=row.get("recurrence_days", 0),
            charged_to=row["charged_to"],
        )
        for row in rows
    ]
    return sorted(terms, key=lambda one: one.since)


def terms_for(rig: str, day: date, terms: list[Terms]) -> Terms:
    """The terms of a rig on a day; LookupError if no contract covers it."""
    contractor = rig.split("-")[0]
    in_force = [one for one in terms if contractor in one.contractors and one.since <= day]
    if not in_force:
        raise LookupError(f"config/contract.toml has no terms for {rig} on {day}")
    return in_force[-1]


def settle(stops: list[Stop], terms: list[Terms]) -> list[Settlement]:
    """Settle one rig's stops on contractor's items in time order.

    ``stops`` must reach back to the start of a calendar month and the days of recurrence before it, or the first
    allowances come out too high.
    """
    used: dict[date, float] = {}
    resumed: dict[str, datetime] = {}
    settled = []
    for stop in sorted(stops, key=lambda one: one.start):
        mine = terms_for(stop.rig, stop.start.date(), terms)
        counted = [(part.start, part.end) for part in stop.parts if part.kind in mine.counted]
        gross = hours_of(counted)
        before = resumed.get(stop.tag)
        recurring = before is not None and before >= stop.start - timedelta(days=mine.recurrence_days)
        recurring = recurring and mine.recurrence_days > 0
        resumed[stop.tag] = stop.end
        allowance, credited = 0.0, []
        for month, hours in charges(counted, stop, mine):
            left = max(0.0, mine.month_allowance_h - used.get(month, 0.0))
            taken = 0.0 if recurring else min(mine.job_allowance_h, hours_of(hours), left)
            used[month] = used.get(month, 0.0) + taken
            allowance += taken
            credited += without_first(hours, taken)
        settled.append(Settlement(stop, mine, gross, allowance, recurring, tuple(credited)))
    return settled


def charges(counted: list[Interval], stop: Stop, terms: Terms) -> list[tuple[date, list[Interval]]]:
    """Which hours of a stop use up the allowance of which month (its first day)."""
    first = stop.start.date().replace(day=1)
    if terms.charged_to == "job":
        return [(first, counted)]
    after = month_after(first)
    return [(first, clip(counted, first, after)), (after, clip(counted, after, month_after(after)))]


def month_after(month: date) -> date:
    return (month + timedelta(days=32)).replace(day=1)


def hours_of(intervals: list[Interval] | tuple[Interval, ...]) -> float:
    return sum((end - start).total_seconds() for start, end in intervals) / 3600


def without_first(intervals: list[Interval], hours: float) -> tuple[Interval, ...]:
    """The allowance eats the first hours of a job."""
    left, kept = timedelta(hours=hours), []
    for start, end in intervals:
        taken = min(left, end - start)
        left -= taken
        if start + taken < end:
            kept.append((start + taken, end))
    return tuple(kept)


def clip(intervals: list[Interval] | tuple[Interval, ...], first: date, after: date) -> list[Interval]:
    """The parts of the intervals from the day ``first`` to before the day ``after``."""
    low, high = datetime.combine(first, time()), datetime.combine(after, time())
    return [(max(start, low), min(end, high)) for start, end in intervals if start < high and end > low]
