"""A day's actions as untrusted text: what cannot be read as a whole is a day without actions, a bad row is no row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass

MAX_BYTES = 1_000_000
MAX_ROWS = 5_000
MAX_REF = 64
COLUMNS = ("item_id", "kind", "ref", "action", "party", "amount", "note")
_NEEDED = ("kind", "ref", "action", "party")
ACTIONS = ("CHASE", "REVIEW", "CLOSE")


@dataclass(frozen=True, slots=True)
class Row:
    """An action. ``kind`` and ``party`` are as written: whether they fit is for the desk to say. Amounts are not read."""

    kind: str
    ref: str
    action: str
    party: str


@dataclass(frozen=True, slots=True)
class Actions:
    """The rows of a file in order, and how many rows could not be read; ``problem`` when the file is none at all."""

    rows: tuple[Row, ...] = ()
    unreadable: int = 0
    problem: str | None = None


def parse_actions(data: bytes | None) -> Actions:
    """Read a file of at most ``MAX_BYTES`` bytes in UTF-8 with a header line. Columns are found by name."""
    if data is None:
        return Actions(problem="there is no file, or it is too large")
    try:
        reader = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), delimiter=";")
        header = [name.strip() for name in next(reader, [])]
        places = [header.index(name) for name in _NEEDED]
        return _rows(reader, places)
    except UnicodeDecodeError:
        return Actions(problem="the file is not UTF-8")
    except ValueError:
        return Actions(problem="the header lacks a column")
    except csv.Error:
        return Actions(problem="the file is not separated by semicolons")


def _rows(reader: Iterable[list[str]], places: list[int]) -> Actions:
    rows: list[Row] = []
    unreadable = 0
    for number, fields in enumerate(reader):
        if number >= MAX_ROWS:
            return Actions(problem=f"the file has more than {MAX_ROWS:,} rows")
        if not fields:
            continue
        if len(fields) <= max(places):
            unreadable += 1
            continue
        kind, ref, action, party = (fields[place].strip() for place in places)
        if action not in ACTIONS or not 0 < len(ref) <= MAX_REF:
            unreadable += 1
            continue
        rows.append(Row(kind, ref, action, party))
    return Actions(tuple(rows), unreadable)
