"""Reads claim files as what they are: bytes from a stranger.

A claim file is UTF-8, ``;``-separated, with a header line. Whatever is wrong with one line makes that line unreadable
(the contractor disputes it); whatever is wrong with the file as such makes the whole claim unreadable.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta

COLUMNS = (
    "line_no", "rig_id", "claim_month", "start", "end", "equipment_tag", "hours", "status", "clause", "evidence", "note",
)  # fmt: skip
MAX_CLAIM_BYTES = 512 * 1024
MAX_CLAIM_LINES = 2_000  #: a rig makes at most some 30 stops a month
LONGEST_TEXT = 80  #: characters of ``clause`` and ``note``
LONGEST_CLAIM_H = 744.0  #: the hours of the longest month

_HOURS = re.compile(r"\d{1,3}(\.\d{1,4})?", re.ASCII)
_LINE_NUMBER = re.compile(r"\d{1,5}", re.ASCII)
_MOMENT = re.compile(r"(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2})", re.ASCII)
_EVIDENCE = re.compile(r"[A-Z]{2}-\d{1,3}/\d{4}-\d{2}-\d{2}@\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """One readable line. Times are field time; ``end`` is exclusive."""

    number: int
    start: datetime
    end: datetime
    tag: str
    hours: float
    review: bool
    evidence: tuple[str, ...]

    @property
    def window(self) -> timedelta:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Claim:
    """What one rig's file says for one month.

    ``unreadable`` are the problems of lines that nobody could read, with their position from 1; position 0 stands for
    the file as such, and then there are no lines.
    """

    rig: str
    month: date
    lines: tuple[ClaimLine, ...]
    unreadable: tuple[tuple[int, str], ...]


class ClaimUnreadable(Exception):
    """Why a file or a line cannot be read. Never leaves this module."""


def parse_claim(data: bytes, rig: str, month: date) -> Claim:
    """Read one claim file. Never raises, whatever the bytes."""
    try:
        rows = _rows(data)
    except ClaimUnreadable as problem:
        return Claim(rig, month, (), ((0, str(problem)),))
    lines: list[ClaimLine] = []
    unreadable: list[tuple[int, str]] = []
    for position, row in enumerate(rows, start=1):
        try:
            lines.append(_line(row, rig, month))
        except ClaimUnreadable as problem:
            if row.get("status", "").strip() != "REVIEW":  # nobody looks at a doubtful line that cannot be read
                unreadable.append((position, str(problem)))
    return Claim(rig, month, tuple(lines), tuple(unreadable))


def _rows(data: bytes) -> list[dict[str, str]]:
    if len(data) > MAX_CLAIM_BYTES:
        raise ClaimUnreadable("the file is too large")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ClaimUnreadable("the file is not UTF-8") from None
    if "\0" in text:
        raise ClaimUnreadable("the file holds NUL bytes")
    try:
        table = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=";") if row]
    except csv.Error:
        raise ClaimUnreadable("the file is no table") from None
    if not table or tuple(name.strip() for name in table[0][: len(COLUMNS)]) != COLUMNS:
        raise ClaimUnreadable("the header is not the agreed one")
    if len(table) - 1 > MAX_CLAIM_LINES:
        raise ClaimUnreadable(f"the file has more than {MAX_CLAIM_LINES} lines")
    width = len(table[0])
    return [dict(zip(COLUMNS, row, strict=False)) if len(row) == width else {} for row in table[1:]]


def _line(row: dict[str, str], rig: str, month: date) -> ClaimLine:
    if not row:
        raise ClaimUnreadable("the line has too few or too many columns")
    value = {name: text.strip() for name, text in row.items()}
    if not _LINE_NUMBER.fullmatch(value["line_no"]):
        raise ClaimUnreadable("line_no is no whole number")
    if value["rig_id"] != rig or value["claim_month"] not in (f"{month:%Y-%m}", f"{month:%Y%m}"):
        raise ClaimUnreadable("the line is of another rig or month")
    start, end = _moment(value["start"]), _moment(value["end"])
    if end <= start:
        raise ClaimUnreadable("the window ends before it starts")
    if not _HOURS.fullmatch(value["hours"]) or float(value["hours"]) > LONGEST_CLAIM_H:
        raise ClaimUnreadable("hours is no decimal number of hours")
    if value["status"] not in ("CLAIM", "REVIEW"):
        raise ClaimUnreadable("status is neither CLAIM nor REVIEW")
    if max(len(value["clause"]), len(value["note"])) > LONGEST_TEXT:
        raise ClaimUnreadable(f"clause or note is longer than {LONGEST_TEXT} characters")
    evidence = tuple(value["evidence"].split("|")) if value["evidence"] else ()
    if len(evidence) > 40 or not all(_EVIDENCE.fullmatch(part) for part in evidence):
        raise ClaimUnreadable("evidence is not report_id@rev joined by |")
    return ClaimLine(
        number=int(value["line_no"]),
        start=start,
        end=end,
        tag=value["equipment_tag"],
        hours=float(value["hours"]),
        review=value["status"] == "REVIEW",
        evidence=evidence,
    )


def _moment(text: str) -> datetime:
    """Field time ``YYYY-MM-DDTHH:MM``; as on the reports, 24:00 is the end of the day."""
    match = _MOMENT.fullmatch(text)
    if not match:
        raise ClaimUnreadable("start or end is no field time")
    day, clock = match.groups()
    try:
        if clock == "24:00":
            return datetime.fromisoformat(f"{day}T00:00") + timedelta(days=1)
        return datetime.fromisoformat(text)
    except (ValueError, OverflowError):
        raise ClaimUnreadable("start or end is no field time") from None
