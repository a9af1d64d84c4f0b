"""Month end: settles every rig's stops under the contract in force and writes one claim per rig.

A line goes out only with a report that both sides stand by. Stops whose end the reports do not show go to Cost
Engineering as REVIEW, at most six a month over all rigs. What was decided about every stop, claimed or not, is kept in
the table ``settlement``.
"""

from __future__ import annotations

import csv
import sqlite3
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from npt import alias
from npt.contract import Settlement, clip, hours_of, load_terms, settle
from npt.owner import Owners
from npt.record import Record
from npt.stops import Stop, find_stops

HEADER = (
    "line_no",
    "rig_id",
    "claim_month",
    "start",
    "end",
    "equipment_tag",
    "hours",
    "status",
    "clause",
    "evidence",
    "note",
)
LONGEST_RECURRENCE = timedelta(days=14)
LONGEST_STOP = timedelta(days=4)  #: reports before and after that may still tell of a stop
REVIEWS_A_MONTH = 6

AUDIT = """
    CREATE TABLE IF NOT EXISTS settlement (
        claim_month TEXT, rig_id TEXT, start TEXT, end TEXT, tag TEXT, owner TEXT, decision TEXT,
        gross_h REAL, allowance_h REAL, recurring INTEGER, month_h REAL, clause TEXT
    )
"""


@dataclass(frozen=True)
class Row:
    """A line of a claim before it gets its number."""

    start: datetime
    end: datetime
    tag: str
    hours: float
    status: str
    clause: str
    note: str


class MonthEnd:
    """The closing of one calendar month for all rigs."""

    def __init__(self, db: sqlite3.Connection, month: date, config: Path = Path("config")) -> None:
        self._db = db
        self._month = month
        self._after = next_month(month)
        self._record = Record(db, config)
        self._owners = Owners(db, config)
        self._terms = load_terms(config)
        self._reviews_left = REVIEWS_A_MONTH
        db.execute(AUDIT)
        db.execute("DELETE FROM settlement WHERE claim_month = ?", (f"{month:%Y-%m}",))

    def write(self, out: Path) -> None:
        out.mkdir(parents=True, exist_ok=True)
        for rig in self._record.rigs():
            rows = self._rows(rig)
            path = out / f"claim_{rig}_{self._month:%Y%m}.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                table = csv.writer(file, delimiter=";", lineterminator="\n")
                table.writerow(HEADER)
                for number, row in enumerate(rows, start=1):
                    evidence = "|".join(self._record.evidence(rig, row.start, row.end))
                    table.writerow(
                        (
                            number,
                            rig,
                            f"{self._month:%Y-%m}",
                            f"{row.start:%Y-%m-%dT%H:%M}",
                            f"{row.end:%Y-%m-%dT%H:%M}",
                            row.tag,
                            f"{row.hours:.2f}",
                            row.status,
                            row.clause,
                            evidence,
                            row.note,
                        )
                    )
        self._db.commit()

    def _rows(self, rig: str) -> list[Row]:
        """The claim of one rig.

        The allowance of a job that runs over from the month before hangs on that month's jobs, and theirs on the
        recurrences before them: reports are read from there on, not from the beginning of the store.
        """
        month_before = (self._month - timedelta(days=1)).replace(day=1)
        first = month_before - LONGEST_RECURRENCE - LONGEST_STOP
        lines = self._record.lines(rig, first, self._after + LONGEST_STOP)
        stops = find_stops(lines, lambda remark: alias.find_tag(rig, remark))
        contractors = []
        for stop in stops:
            if self._owners.is_operators(rig, stop.tag, stop.start.date()):
                self._keep(stop, "operator")
            else:
                contractors.append(stop)
        rows = []
        for settlement in settle(contractors, self._terms):
            row = self._row(settlement)
            self._keep(settlement.stop, "contractor", settlement, row)
            if row is not None:
                rows.append(row)
        return rows

    def _row(self, settlement: Settlement) -> Row | None:
        """The claim line of a stop for this month, if it brings hours in it."""
        month_h = hours_of(clip(settlement.credited, self._month, self._after))
        window = clip([self._window(settlement)], self._month, self._after)
        if month_h <= 0 or not window:
            return None
        status = "CLAIM"
        if not settlement.stop.clean:
            if not self._reviews_left:
                return None
            self._reviews_left -= 1
            status = "REVIEW"
        allowance = "recurrence, no allowance" if settlement.recurring else f"allowance {settlement.allowance_h:.2f}"
        note = f"counted {settlement.gross_h:.2f}; {allowance}"
        start, end = window[0]
        return Row(start, end, settlement.stop.tag, month_h, status, settlement.terms.clause, note)

    @staticmethod
    def _window(settlement: Settlement) -> tuple[datetime, datetime]:
        """From the first to the last hour that the contractor stands in for."""
        counted = [part for part in settlement.stop.parts if part.kind in settlement.terms.counted]
        return counted[0].start, counted[-1].end

    def _keep(self, stop: Stop, owner: str, settlement: Settlement | None = None, row: Row | None = None) -> None:
        if stop.end <= datetime(self._month.year, self._month.month, 1) or stop.start.date() >= self._after:
            return
        decision = row.status if row else "not claimed"
        terms = (settlement.gross_h, settlement.allowance_h, settlement.recurring) if settlement else (None, None, None)
        self._db.execute(
            "INSERT INTO settlement VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                f"{self._month:%Y-%m}",
                stop.rig,
                stop.start.isoformat(),
                stop.end.isoformat(),
                stop.tag,
                owner,
                decision,
                *terms,
                row.hours if row else 0.0,
                settlement.terms.clause if settlement else "",
            ),
        )


def next_month(month: date) -> date:
    return (month.replace(day=1) + timedelta(days=32)).replace(day=1)
