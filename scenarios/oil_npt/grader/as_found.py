"""What the system as found would have claimed on the same reports: its rules again, written down independently.

Used for one question only: did a delivery change claim lines? Compared are the rows' windows, items, hours and status,
not the bytes of the files.
"""

from __future__ import annotations

import csv
import functools
import io
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path

from scenarios.oil_npt.grader.claims import Claim, ClaimLine
from scenarios.oil_npt.grader.ledger import month_of
from scenarios.oil_npt.world.fleet import alias_rows
from scenarios.oil_npt.world.stoppages import RIGS

CONFIG = Path(__file__).parent.parent / "system" / "config"
RIG_REPAIR = "8"
SMALLEST_CLAIM_H = 0.005
HOURS_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True)
class ExpectedRow:
    """A claim row that the system as found writes. Times are as printed on the reports."""

    start: datetime
    end: datetime
    tag: str
    hours: float


class AsFound:
    """Collects reports as the system as found does (the first version of a line stays) and closes months."""

    def __init__(self) -> None:
        self._known: set[tuple[str, str]] = set()
        self._lines: dict[tuple[str, date], list[ExpectedRow]] = defaultdict(list)
        self._allowance_h = float(tomllib.loads((CONFIG / "contract.toml").read_text(encoding="utf-8"))["allowance_h"])

    def ingest(self, files: Mapping[str, bytes]) -> None:
        for name in sorted(files):
            if not name.startswith("ddr_"):
                continue
            for row in csv.DictReader(io.StringIO(files[name].decode("utf-8-sig"), newline="")):
                key = (row["report_id"], row["seq"])
                if key in self._known:
                    continue
                self._known.add(key)
                if row["op_code"] == RIG_REPAIR and _party(row["remark"].lower()) == "CONTRACTOR":
                    day = date.fromisoformat(row["report_date"])
                    line = ExpectedRow(
                        _moment(day, row["t_from"]),
                        _moment(day, row["t_to"]),
                        _tag(row["rig_id"], row["remark"].lower()),
                        float(row["hours"]),
                    )
                    self._lines[row["rig_id"], month_of(day)].append(line)

    def close(self, month: date) -> dict[str, list[ExpectedRow]]:
        """Rig → rows of the claim of the month whose first day is ``month``."""
        claims = {}
        for rig in RIGS:
            left, rows = self._allowance_h, []
            for line in sorted(self._lines.get((rig, month), ()), key=lambda line: line.start):
                free = min(left, line.hours)
                left -= free
                if line.hours - free >= SMALLEST_CLAIM_H:
                    rows.append(ExpectedRow(line.start, line.end, line.tag, round(line.hours - free, 2)))
            claims[rig] = rows
        return claims


def changed_rows(expected: Mapping[str, list[ExpectedRow]], claims: Mapping[str, Claim], month: date) -> list[str]:
    """One phrase per row that is missing, added or different, rig by rig."""
    changes: list[str] = []
    for rig in RIGS:
        claim = claims.get(rig)
        wanted = expected.get(rig, [])
        if claim is None:
            changes += [f"{rig}, {row.start:%d %b %Y %H:%M}: {row.tag} is missing" for row in wanted]
            continue
        changes += [f"{rig}, {month:%B %Y}: line {position} cannot be read" for position, _ in claim.unreadable]
        changes += _differences(rig, wanted, claim.lines)
    return changes


def _differences(rig: str, wanted: list[ExpectedRow], lines: tuple[ClaimLine, ...]) -> list[str]:
    left: Counter[ExpectedRow] = Counter(wanted)
    added = []
    for line in lines:
        same = next((row for row in left if not line.review and _same(row, line)), None)
        if same is None:
            added.append(f"{rig}, {line.start:%d %b %Y %H:%M}: {line.tag[:20]} {line.hours:.2f} h is not the coding's")
            continue
        left[same] -= 1
        if not left[same]:
            del left[same]
    missing = [f"{rig}, {row.start:%d %b %Y %H:%M}: {row.tag} {row.hours:.2f} h is missing" for row in left.elements()]
    return added + missing


def _same(row: ExpectedRow, line: ClaimLine) -> bool:
    within = abs(row.hours - line.hours) <= HOURS_TOLERANCE + 1e-9
    return within and (row.start, row.end, row.tag) == (line.start, line.end, line.tag)


@functools.cache
def _keywords() -> list[tuple[re.Pattern[str], str]]:
    with (CONFIG / "keywords.csv").open(encoding="utf-8", newline="") as file:
        return [(re.compile(rf"\b{re.escape(row['word'].lower())}"), row["party"]) for row in csv.DictReader(file)]


@functools.lru_cache(maxsize=8_192)
def _party(remark: str) -> str | None:
    """The party of the first keyword, in the list's order, that the remark contains at the start of a word."""
    return next((party for word, party in _keywords() if word.search(remark)), None)


@functools.cache
def _aliases(rig: str) -> tuple[re.Pattern[str], dict[str, str]]:
    tags = {alias.lower(): tag for where, alias, tag in alias_rows() if where in ("*", rig)}
    longest_first = sorted(tags, key=lambda alias: (-len(alias), alias))
    return re.compile(rf"(?<![\w#])(?:{'|'.join(map(re.escape, longest_first))})(?!\w)"), tags


def _tag(rig: str, remark: str) -> str:
    pattern, tags = _aliases(rig)
    found = pattern.search(remark)
    return tags[found.group()] if found else ""


def _moment(day: date, clock: str) -> datetime:
    hours, minutes = clock.split(":")
    return datetime.combine(day, time()) + timedelta(hours=int(hours), minutes=int(minutes))
