"""The coding in force, applied to the visible history: what the system as found stored and claimed, row by row.

Words decide, so the words are read from the system's own files; a test holds the result against the system itself.
"""

from __future__ import annotations

import csv
import io
import runpy
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

from scenarios.oil_npt.world.feed import COLUMNS

SYSTEM = Path(__file__).parent.parent / "system"
RIG_REPAIR = "8"
SMALLEST_CLAIM_H = 0.005

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """A line of a claim as the system wrote it. Hours as in the claim file, two places."""

    rig: str
    month: date
    number: int
    start: datetime
    end: datetime
    tag: str
    hours: str
    evidence: str

    @property
    def claim_id(self) -> str:
        return f"{self.rig}/{self.month:%y%m}-{self.number:02d}"


def first_versions(files: Iterable[bytes]) -> list[Row]:
    """Report lines as ``ingest`` keeps them: of each report and line number the first that came."""
    kept: dict[tuple[str, str], Row] = {}
    for data in files:
        for row in csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")):
            kept.setdefault((row["report_id"], row["seq"]), row)
    return list(kept.values())


def stored(rows: Iterable[Row]) -> list[tuple[object, ...]]:
    """The rows of ``ddr_line``."""
    numbers = {"rev": int, "seq": int, "op_code": int, "hours": float, "hole_depth_m": float, "bit_depth_m": float}
    return [tuple(numbers.get(column, str)(row[column]) for column in COLUMNS) for row in rows]


class CodingInForce:
    """Claims by keyword and monthly allowance, as ``npt.close`` writes them."""

    def __init__(self) -> None:
        self._is_downtime = runpy.run_path(str(SYSTEM / "npt" / "coder.py"))["is_contractor_downtime"]
        self._find_tag = runpy.run_path(str(SYSTEM / "npt" / "alias.py"))["find_tag"]
        self._keywords = str(SYSTEM / "config" / "keywords.csv")
        contract = tomllib.loads((SYSTEM / "config" / "contract.toml").read_text(encoding="utf-8"))
        self._allowance_h = float(contract["allowance_h"])

    def close(self, rows: Iterable[Row], month: date, alias_table: Path) -> list[WrittenLine]:
        """The claim lines of all rigs for ``month``, in the order of rig and line number."""
        prefix = f"{month:%Y-%m}-"
        booked = [row for row in rows if row["op_code"] == RIG_REPAIR and row["report_date"].startswith(prefix)]
        booked.sort(key=lambda row: (row["rig_id"], row["report_date"], row["t_from"]))
        left: dict[str, float] = {}
        numbers: dict[str, int] = {}
        written: list[WrittenLine] = []
        for row in booked:
            if not self._is_downtime(int(row["op_code"]), row["remark"], self._keywords):
                continue
            rig, hours = row["rig_id"], float(row["hours"])
            free = min(left.get(rig, self._allowance_h), hours)
            left[rig] = left.get(rig, self._allowance_h) - free
            if hours - free < SMALLEST_CLAIM_H:
                continue
            numbers[rig] = numbers.get(rig, 0) + 1
            start, end = (_moment(row["report_date"], row[column]) for column in ("t_from", "t_to"))
            tag = self._find_tag(rig, row["remark"], str(alias_table)) or ""
            evidence = f"{row['report_id']}@{row['rev']}"
            written.append(WrittenLine(rig, month, numbers[rig], start, end, tag, f"{hours - free:.2f}", evidence))
        return written


def _moment(day: str, clock: str) -> datetime:
    hours, minutes = clock.split(":")
    return datetime.fromisoformat(day) + timedelta(hours=int(hours), minutes=int(minutes))
