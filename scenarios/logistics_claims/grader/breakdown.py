"""Explains the net claims result in the customer's words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from scenarios.logistics_claims.world.desk import Settled

if TYPE_CHECKING:
    from scenarios.logistics_claims.grader.ledger import Ledger

SAMPLES = 10
SAMPLES_EACH = 2
OVERPAID_EUR = 1.0
REASON_WORDS = {
    "late": "late notice",
    "second": "second claim for the shipment",
    "found": "goods found or delivered",
    "packing": "packing noted at pick-up",
    "returned": "refused at the door",
    "": "not proven, or sent twice",
}

Section = Mapping[str, Any]


def breakdown(ledger: Ledger) -> list[Section]:
    settled = ledger.settled
    return [
        _result(settled),
        _mistakes(settled),
        _invalid(settled),
        _months(ledger),
        _samples(ledger),
        _operation(ledger),
    ]


def _keur(amounts: Iterable[float]) -> str:
    return f"{math.fsum(amounts) / 1_000:,.1f} kEUR"


def _result(settled: list[Settled]) -> Section:
    won = [one for one in settled if one.letter == "won"]
    unfounded = [one for one in settled if one.letter == "unfounded"]
    return {
        "kind": "facts",
        "title": "Line 47",
        "items": [
            ["Paid to claimants", _keur(one.paid for one in settled)],
            ["Disputes and complaints", _keur(one.extra for one in settled)],
            ["Handling by clerks and assessors", _keur(one.handling for one in settled)],
            ["Fees of unfounded letters", _keur(one.fee for one in settled)],
            ["Recovered from hauliers", _keur(one.recovered for one in settled)],
            ["Net claims result", _keur(-one.cost for one in settled)],
            ["Letters that brought money", str(len(won))],
            ["Letters without ground", str(len(unfounded))],
        ],
    }


_MISTAKES: tuple[tuple[str, Callable[[Settled], bool], Callable[[Settled], float]], ...] = (
    ("Paid, nothing was owed", lambda one: one.ending == "paid" and one.filed.owed <= 0, lambda one: one.paid),
    (
        "Paid above what was owed",
        lambda one: one.ending == "paid" and 0 < one.filed.owed < one.paid - OVERPAID_EUR,
        lambda one: one.paid - one.filed.owed,
    ),
    ("Paid too little, contested", lambda one: one.ending == "paid" and one.extra > 0, lambda one: one.extra),
    ("Refused, but owed", lambda one: one.ending == "refused" and one.filed.owed > 0, lambda one: one.extra),
    (
        "Refused without a reason given",
        lambda one: one.ending == "refused" and one.filed.owed <= 0 and one.extra > 0,
        lambda one: one.extra,
    ),
    (
        "Lapsed unanswered, owed as claimed",
        lambda one: one.ending == "lapsed",
        lambda one: one.paid - one.filed.owed,
    ),
    ("Complaint after no answer", lambda one: one.ending == "complained", lambda one: one.extra),
    ("Keyed by a clerk", lambda one: one.ending == "paid" and one.handling > 0, lambda one: one.handling),
    ("Letter without ground", lambda one: one.letter == "unfounded", lambda one: one.fee),
    (
        "Haulier could have been charged on the day of receipt",
        lambda one: _chargeable(one) and one.letter != "won",
        lambda one: 0.8 * one.filed.owed,
    ),
)


def _chargeable(one: Settled) -> bool:
    until = one.filed.claim.letter_until
    return until is not None and one.filed.owed > 0 and one.filed.claim.received <= until


def _mistakes(settled: list[Settled]) -> Section:
    rows = []
    for name, is_one, cost in _MISTAKES:
        found = [one for one in settled if is_one(one)]
        rows.append([name, len(found), round(math.fsum(cost(one) for one in found))])
    return {
        "kind": "table",
        "title": "What could have been had",
        "columns": ["What happened", "Claims", "EUR"],
        "rows": rows,
        "note": "A claim can stand in several lines. EUR: what it cost beyond what was owed, or what did not come in.",
    }


def _invalid(settled: list[Settled]) -> Section:
    """Claims on which nothing was owed, by ground, and how they ended."""
    by_ground: dict[str, Counter[str]] = {}
    for one in settled:
        if one.filed.owed <= 0:
            by_ground.setdefault(one.filed.claim.reason, Counter())[one.ending] += 1
    endings = ("refused", "assessed", "paid", "lapsed", "complained")
    return {
        "kind": "table",
        "title": "Claims on which nothing was owed",
        "columns": ["Ground", "Refused", "Seen by an assessor", "Paid", "Lapsed", "Complaint"],
        "rows": [
            [REASON_WORDS[ground], *(by_ground[ground][ending] for ending in endings)]
            for ground in REASON_WORDS
            if ground in by_ground
        ],
        "note": "",
    }


def _months(ledger: Ledger) -> Section:
    days = ledger.run.days
    months = list(dict.fromkeys(f"{day:%b %Y}" for day in days))
    filed, tried, seen, cost = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for day, of_day in enumerate(ledger.run.desk.filed_by_day):
        month = f"{days[day]:%b %Y}"
        filed[month] += len(of_day)
        tried[month] += sum(one.claim.threshold is not None for one in of_day)
        seen[month] += ledger.assessed[day]
    for one in ledger.settled:
        cost[f"{days[one.on_day]:%b %Y}"] += round(one.cost)
    return {
        "kind": "table",
        "title": "By month",
        "columns": ["Month", "Claims received", "Of these tried on", "Seen by assessors", "Net claims result, EUR"],
        "rows": [[month, filed[month], tried[month], seen[month], -cost[month]] for month in months],
        "note": "",
    }


def _samples(ledger: Ledger) -> Section:
    rows: list[list[str]] = []
    for name, is_one, _ in _MISTAKES:
        worst = sorted((one for one in ledger.settled if is_one(one)), key=lambda one: (-one.cost, one.filed.sequence))
        for one in worst[:SAMPLES_EACH]:
            claim = one.filed.claim
            rule = one.row.rule if one.row is not None else ""
            rows.append(
                [
                    one.filed.id,
                    claim.kind,
                    claim.shipment.cls,
                    f"{claim.claimed:.2f}",
                    f"{one.filed.owed:.2f}",
                    rule,
                    name,
                ]
            )
    return {
        "kind": "table",
        "title": "Some of them",
        "columns": ["Claim", "Kind", "Customer", "Claimed", "Owed", "Rule given", "What happened"],
        "rows": rows[: 2 * SAMPLES],
        "note": "",
    }


def _operation(ledger: Ledger) -> Section:
    items = [
        ["Mornings that failed", f"{ledger.failures['decide']} of {ledger.calls['decide']}"],
        ["Portal questions that failed", f"{ledger.failures['status']} of {ledger.calls['status']}"],
        ["Rows that could not be read", str(ledger.unreadable_rows)],
        ["Longest queue at the end of a day", str(max(ledger.waiting, default=0))],
    ]
    items += [[f"Mornings where {problem}", str(number)] for problem, number in ledger.unreadable_files.items()]
    return {"kind": "facts", "title": "Operation", "items": items}
