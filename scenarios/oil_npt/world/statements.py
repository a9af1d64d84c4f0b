"""The contractors' own monthly tallies: what they settle for a stop, for about two thirds of their stops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from numpy.random import Generator

from scenarios.kit.tables import csv_bytes
from scenarios.oil_npt.world.fleet import HIRED_TAGS
from scenarios.oil_npt.world.quarters import FIRST_MIDNIGHT
from scenarios.oil_npt.world.stoppages import Stoppage
from scenarios.oil_npt.world.wording import pick

if TYPE_CHECKING:
    from scenarios.oil_npt.grader.ledger import Credit

SHOWN = 420  #: rows, in every task
LAST_DAY = date(2026, 8, 31)
COLUMNS = ("rig_id", "month", "date", "tag", "gross_h", "allowance_h", "credit_h", "remark")
REMARKS = ("as per DDR", "agreed on rig", "per signed DDR", "mechanic's sheet", "as reported", "tour sheet", "")
HIRE_REMARKS = ("your hire", "your hire, nil", "hired by TBE", "not ours, nil", "TBE hire", "your item")

Key = tuple[str, str, str]  #: rig, ISO date, tag: how a row is cited


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A row of a tally. ``credit`` is None for an item that the contractor says is not its own."""

    rig: str
    day: date
    tag: str
    gross_h: float
    allowance_h: float
    credit_h: float
    credit: Credit | None

    @property
    def key(self) -> Key:
        return (self.rig, self.day.isoformat(), self.tag)


def candidates(credits: Sequence[Credit], stoppages: Sequence[Stoppage]) -> list[StatementRow]:
    """Every row that a complete tally of the rigs' own and hired equipment would have.

    There is none for a day on which the same item stopped twice: a row must say which stop it means.
    """
    rows = [
        StatementRow(
            credit.stoppage.rig, credit.start.date(), credit.stoppage.tag, credit.gross_h, credit.allowance_h,
            credit.credit_h, credit,
        )
        for credit in credits
    ]  # fmt: skip
    for stop in stoppages:
        if stop.kind == "O" and stop.tag in HIRED_TAGS:
            segments = stop.versions[0].segments
            hours = sum(segment.hours for segment in segments)
            rows.append(StatementRow(stop.rig, segments[0].start.date(), stop.tag, hours, 0.0, 0.0, None))
    rows = [row for row in rows if FIRST_MIDNIGHT.date() <= row.day <= LAST_DAY]
    rows.sort(key=lambda row: (row.day.replace(day=1), row.rig, row.day, row.tag))
    times = Counter(row.key for row in rows)
    return [row for row in rows if times[row.key] == 1]


def sampled(rows: Sequence[StatementRow], always: frozenset[Key], rng: Generator) -> list[StatementRow]:
    """``SHOWN`` rows: those of ``always``, and others at random, whatever they are worth."""
    rest = [index for index, row in enumerate(rows) if row.key not in always]
    wanted = SHOWN - (len(rows) - len(rest))
    if len(rest) < wanted:
        raise AssertionError(f"only {len(rows)} statement rows can be shown, {SHOWN} are wanted")
    chosen = {rest[index] for index in rng.permutation(len(rest))[:wanted]}
    return [row for index, row in enumerate(rows) if index in chosen or row.key in always]


def statements_csv(rows: Sequence[StatementRow], rng: Generator) -> bytes:
    def remark(row: StatementRow) -> str:
        return pick(rng, HIRE_REMARKS if row.credit is None else REMARKS)

    return csv_bytes(
        COLUMNS,
        [
            (
                row.rig, f"{row.day:%Y-%m}", row.day.isoformat(), row.tag, f"{row.gross_h:.2f}", f"{row.allowance_h:.2f}",
                f"{row.credit_h:.2f}", remark(row),
            )
            for row in rows
        ],
    )  # fmt: skip
