"""Reads a delivered routing table as the gateway does: a stranger's file, held to its format row by row."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from scenarios.oncall_incident.world.clock import STEP, SWAPPED_IN, from_stamp
from scenarios.oncall_incident.world.gateway import Ring

HEADER = "service_id,severity,valid_from,valid_to,level,person_id,delay_min"
MAX_BYTES = 2_000_000
MAX_ROW_CHARS = 200
DELAYS = (0, 15)
USUAL_DELAY = {1: 0, 2: 10}


@dataclass(frozen=True, slots=True)
class Row:
    """``start``, ``end``: minutes of UTC, clipped to the table's window."""

    severity: int
    start: int
    end: int
    ring: Ring


class RoutingTable:
    """The table of one compile. After its window it goes on with what held at its end: nothing else was accepted.

    Lines that are no rows are passed over, those that name nobody the gateway knows as well. A service's lines are
    read when it is first asked for: few of them are.
    """

    def __init__(self, asof: int, text: str, people: Collection[str]) -> None:
        self._from = asof + SWAPPED_IN
        self._text, self._people = text, people
        self._rows: dict[str, list[Row]] = {}

    def rings(self, service_id: str, severity: int, at: int) -> list[Ring]:
        """One row for each level: the first in the file that holds at that instant."""
        if service_id not in self._rows:
            rows = (_row(line.rstrip("\r"), self._from, self._people) for line in self._lines_of(service_id))
            self._rows[service_id] = [row for row in rows if row is not None]
        at = min(at, self._from + STEP - 1)
        found: dict[int, Ring] = {}
        for row in self._rows[service_id]:
            if row.severity == severity and row.start <= at < row.end:
                found.setdefault(row.ring.level, row.ring)
        return list(found.values())

    def _lines_of(self, service_id: str) -> Iterator[str]:
        """The lines after the header that begin with a service, in the order of the file."""
        start = self._text.find(f"\n{service_id},")
        while start >= 0:
            end = self._text.find("\n", start + 1)
            yield self._text[start + 1 :] if end < 0 else self._text[start + 1 : end]
            start = self._text.find(f"\n{service_id},", start + 1)


def parse_table(data: bytes | None, asof: int, people: Collection[str]) -> RoutingTable | None:
    """The table, or None where the gateway cannot read it: no file, too large, not UTF-8, another header."""
    if data is None or len(data) > MAX_BYTES:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return RoutingTable(asof, text, people) if text.partition("\n")[0].rstrip("\r") == HEADER else None


def _row(line: str, window_from: int, people: Collection[str]) -> Row | None:
    fields = line.split(",")
    if len(fields) < 7 or len(line) > MAX_ROW_CHARS:
        return None
    _, severity, valid_from, valid_to, level, person, delay = fields[:7]
    if severity not in ("1", "2", "3") or level not in ("1", "2") or person not in people:
        return None
    try:
        start, end = from_stamp(valid_from), from_stamp(valid_to)
    except ValueError:
        return None
    ring = Ring(int(level), person, _delay(delay, int(level)))
    return Row(int(severity), max(start, window_from), min(end, window_from + STEP), ring)


def _delay(text: str, level: int) -> int:
    """Whole minutes, clamped; what is no number is the level's usual delay."""
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        return USUAL_DELAY[level]
    return max(DELAYS[0], min(DELAYS[1], int(text)))
