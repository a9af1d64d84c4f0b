"""Time as the reports count it: whole quarter hours of field time since the first of January 2026."""

from __future__ import annotations

from datetime import date, datetime, timedelta

FIRST_MIDNIGHT = datetime(2026, 1, 1)
QUARTERS_A_DAY = 96
QUARTER = timedelta(minutes=15)


def moment(quarter: int) -> datetime:
    return FIRST_MIDNIGHT + quarter * QUARTER


def midnight(day: date) -> int:
    """The quarter at which ``day`` begins."""
    return (day - FIRST_MIDNIGHT.date()).days * QUARTERS_A_DAY


def day_of(quarter: int) -> date:
    return FIRST_MIDNIGHT.date() + timedelta(days=quarter // QUARTERS_A_DAY)


def quarters(hours: float) -> int:
    return round(hours * 4)


def next_month(month: date) -> date:
    return (month.replace(day=1) + timedelta(days=32)).replace(day=1)


def months_between(first: date, last: date) -> list[date]:
    """First days of the calendar months from ``first``'s to ``last``'s, both included."""
    months = [first.replace(day=1)]
    while months[-1] < last.replace(day=1):
        months.append(next_month(months[-1]))
    return months
