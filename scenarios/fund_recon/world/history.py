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
BYTES = 55.5 * ROWS  #: the size that the tail is drawn for, so that the list is as long on every task
_CANDIDATES = 7
COLUMNS = ("query_id", "ref", "party", "sent_on", "outcome")


def queries_csv(rng: Generator, sent: Sequence[Sent], change: int) -> tuple[bytes, list[str]]:
    """The latest ``ROWS`` queries, oldest first, and their numbers. ``change`` is the first day that is not like before."""
    rows: list[tuple[date, str, str, str]] = [(DAYS[one.day], one.ref, one.party, one.verdict.answer) for one in sent]
    like_before = [one for one in sent if one.day < change and one.party == "CUSTODIAN"]
    rows = [*_older(rng, like_before, rows, ROWS - len(rows)), *rows][-ROWS:]
    silent = rng.random(len(rows)) < UNANSWERED
    numbered, count, year = [], 0, 0
    for index, (day, ref, party, outcome) in enumerate(rows):
        count = count + 1 if day.year == year else 1
        year = day.year
        number = f"Q{day:%y}-{count:05d}"
        numbered.append((number, ref, party, day.isoformat(), "no answer" if silent[index] else outcome))
    return csv_bytes(COLUMNS, numbered), [row[0] for row in numbered]


def _older(
    rng: Generator, like: Sequence[Sent], shown: Sequence[tuple[date, str, str, str]], count: int
) -> list[tuple[date, str, str, str]]:
    """Queries from before the files that are shown; their trades and events are in no file any more."""
    days = (DAYS[HISTORY[0]] - _OLDEST).days
    rows: list[tuple[date, str, str, str]] = []
    left = BYTES - sum(map(_length, shown[-ROWS:]))
    for number, offset in enumerate(sorted(int(one) for one in rng.integers(days, size=max(0, count)))):
        day = _OLDEST + timedelta(days=offset)
        day -= timedelta(days=max(0, day.weekday() - 4))
        drawn = [like[int(one)] for one in rng.integers(len(like), size=_CANDIDATES)]
        candidates = [(day, _renamed(rng, one.ref, day), one.party, str(one.verdict.answer)) for one in drawn]
        mean = left / (count - number)
        rows.append(
            min(candidates[: 1 if abs(mean - BYTES / ROWS) < 0.1 else None], key=lambda row: abs(_length(row) - mean))
        )
        left -= _length(rows[-1])
    return sorted(rows, key=lambda row: row[0])


def _length(row: tuple[date, str, str, str]) -> int:
    """Bytes of a row with its number, date and separators."""
    return len(row[1]) + len(row[2]) + len(row[3]) + 24


def _renamed(rng: Generator, ref: str, day: date) -> str:
    """Another reference of the same kind, of that day's time."""
    if ref.startswith("T"):
        return f"T{day - timedelta(days=4):%y%m}-{int(rng.integers(10_000, 100_000))}"
    if ref.startswith("DV-"):
        return f"DV-{int(rng.integers(1_000, 10_000))}:{ref.partition(':')[2]}"
    return ref
