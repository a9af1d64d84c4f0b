"""The queries sent before October 2026, as the desk lists them: those of the shown months, and a tail of older ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from numpy.random import Generator

from scenarios.fund_recon.world.calendars import DAYS, HISTORY
from scenarios.fund_recon.world.engine import Sent
from scenarios.kit.tables import csv_bytes

ROWS = 2_600
_OLDEST = date(2024, 1, 2)
UNANSWERED = 0.02
COLUMNS = ("query_id", "ref", "party", "sent_on", "outcome")


def queries_csv(rng: Generator, sent: Sequence[Sent], change: int) -> tuple[bytes, list[str]]:
    """The latest ``ROWS`` queries, oldest first, and their numbers. ``change`` is the first day that is not like before."""
    rows: list[tuple[date, str, str, str]] = [(DAYS[one.day], one.ref, one.party, one.verdict.answer) for one in sent]
    like_before = [one for one in sent if one.day < change and one.party == "CUSTODIAN"]
    rows = [*_older(rng, like_before, ROWS - len(rows)), *rows][-ROWS:]
    silent = rng.random(len(rows)) < UNANSWERED
    numbered, count, year = [], 0, 0
    for index, (day, ref, party, outcome) in enumerate(rows):
        count = count + 1 if day.year == year else 1
        year = day.year
        number = f"Q{day:%y}-{count:05d}"
        numbered.append((number, ref, party, day.isoformat(), "no answer" if silent[index] else outcome))
    return csv_bytes(COLUMNS, numbered), [row[0] for row in numbered]


def _older(rng: Generator, like: Sequence[Sent], count: int) -> list[tuple[date, str, str, str]]:
    """Queries from before the files that are shown; their trades and events are in no file any more."""
    days = (DAYS[HISTORY[0]] - _OLDEST).days
    rows = []
    for offset in sorted(int(one) for one in rng.integers(days, size=max(0, count))):
        day = _OLDEST + timedelta(days=offset)
        day -= timedelta(days=max(0, day.weekday() - 4))
        one = like[int(rng.integers(len(like)))]
        rows.append((day, _renamed(rng, one.ref, day), one.party, str(one.verdict.answer)))
    return sorted(rows, key=lambda row: row[0])


def _renamed(rng: Generator, ref: str, day: date) -> str:
    """Another reference of the same kind, of that day's time."""
    if ref.startswith("T"):
        return f"T{day - timedelta(days=4):%y%m}-{int(rng.integers(10_000, 100_000))}"
    if ref.startswith("DV-"):
        return f"DV-{int(rng.integers(1_000, 10_000))}:{ref.partition(':')[2]}"
    return ref
