"""The delivered file of decisions, read as untrusted input: what cannot be read is left out and counted, never raised."""

from __future__ import annotations

import csv
import io
import itertools
import math
import re
from dataclasses import dataclass, field

from scenarios.logistics_claims.world.desk import Row

COLUMNS = ("claim_id", "decision", "amount", "rule", "recourse", "haulier_id", "priority")
MAX_BYTES = 2 * 1024 * 1024
MAX_ROWS = 20_000
MAX_FIELD = 4_000
LARGEST_EUR = 10_000_000.0
LARGEST_PRIORITY = 1e12
_CLAIM = re.compile(r"CL\d{2}-\d{6}", re.ASCII)
_RULE = re.compile(r"[A-Za-z0-9_.-]{1,20}", re.ASCII)
_HAULIER = re.compile(r"[A-Z]\d{2}", re.ASCII)
_NUMBER = re.compile(r"[+-]?\d{1,15}(?:\.\d{0,10})?(?:[eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(slots=True)
class Decisions:
    """``rows``: claim → its first row. ``paid_in_all``: claim → sum of all its PAY rows. ``unreadable``: rows left out."""

    rows: dict[str, Row] = field(default_factory=dict)
    paid_in_all: dict[str, float] = field(default_factory=dict)
    unreadable: int = 0
    problem: str = ""  #: why nothing could be read


def parse_decisions(data: bytes | None) -> Decisions:
    """Read a file of decisions. An absent or foreign one has no rows and says why."""
    found = Decisions()
    if data is None:
        found.problem = "no file, or not one that production can read"
        return found
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        found.problem = "the file is not UTF-8"
        return found
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=";")
    try:
        places = _places(next(reader, []))
        if places is None:
            found.problem = "the header line lacks columns"
            return found
        for fields in itertools.islice(reader, MAX_ROWS):
            if fields:
                _take(fields, places, found)
    except csv.Error:
        found.unreadable += 1  # from here on the file makes no sense
    return found


def _places(header: list[str]) -> dict[str, int] | None:
    names = [name.strip() for name in header[:50]]
    if not set(COLUMNS) <= set(names):
        return None
    return {name: names.index(name) for name in COLUMNS}


def _take(fields: list[str], places: dict[str, int], found: Decisions) -> None:
    if len(fields) <= max(places.values()) or any(len(text) > MAX_FIELD for text in fields):
        found.unreadable += 1
        return
    value = {name: fields[place].strip() for name, place in places.items()}
    row = _row(value)
    if row is None:
        found.unreadable += 1
        return
    if row.decision == "PAY":
        found.paid_in_all[row.claim_id] = found.paid_in_all.get(row.claim_id, 0.0) + row.amount
    found.rows.setdefault(row.claim_id, row)


def _row(value: dict[str, str]) -> Row | None:
    claim = value["claim_id"]
    if not _CLAIM.fullmatch(claim):
        return None
    rule = value["rule"] if _RULE.fullmatch(value["rule"]) else ""
    if value["decision"] == "REFUSE":
        return Row(claim, "REFUSE", rule=rule)
    if value["decision"] == "QUEUE":
        return Row(claim, "QUEUE", priority=priority(value["priority"]))
    amount = number(value["amount"])
    if value["decision"] != "PAY" or amount is None or not 0.005 <= amount <= LARGEST_EUR:
        return None
    haulier = value["haulier_id"] if _HAULIER.fullmatch(value["haulier_id"]) else ""
    return Row(claim, "PAY", round(amount, 2), rule, value["recourse"] == "Y", haulier)


def number(text: str) -> float | None:
    """A finite decimal number; None for anything else."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def priority(text: str) -> float:
    """Unreadable or missing is 0; beyond what anybody could mean, it is the largest there is."""
    value = number(text)
    if value is None:
        return 0.0
    return min(LARGEST_PRIORITY, max(-LARGEST_PRIORITY, value))
