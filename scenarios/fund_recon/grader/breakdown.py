"""The grade in the customer's words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from scenarios.fund_recon.grader.books import Books, Entry, ProductionPeriod
from scenarios.fund_recon.world.calendars import DAYS
from scenarios.fund_recon.world.dividends import Entitlement
from scenarios.fund_recon.world.market import compensated
from scenarios.fund_recon.world.trades import Trade

if TYPE_CHECKING:
    from scenarios.fund_recon.grader.replay import Operation

Section = Mapping[str, Any]
SAMPLES, SAMPLES_PER_REASON = 10, 2
KIND_WORDS = ("Northgate equities", "Northgate bonds", "Delorme equities", "Delorme bonds")
#: why a query was worth something or nothing, in the order of the table
WHY: Mapping[str, str] = {
    "in time": "Founded, in time, with the right party",
    "pending": "Trade not due yet",
    "settles late": "Settled by itself a day or two later",
    "settled": "Trade had settled",
    "block": "Confirmed with its block",
    "part": "Second part followed",
    "cancelled": "Trade was cancelled",
    "early": "Real fail, asked too early: the query is used up",
    "late": "Real, asked too late",
    "party": "Real fail, wrong party: the query is used up",
    "tax": "Dividend right, the rate withheld has changed",
    "not paid yet": "Dividend still within the usual days",
    "paid as it should be": "Dividend was paid as it should be",
    "compensated": "Delorme was compensating: the claim by hand stopped it",
    "position": "Position, no reference that a desk can act on",
    "unknown": "Reference does not exist",
    "again": "Reference queried before",
    "closed": "Reference closed before",
}


def breakdown(production: ProductionPeriod, books: Books, operation: Operation) -> list[Section]:
    """Sections as ``scenarios.kit.world.Outcome`` has them."""
    entries = books.graded()
    return [
        _summary(production, books, entries),
        _by_kind(production, entries),
        _queries(entries),
        _months(production, entries),
        _missed(production, books),
        _samples(entries),
        _operation(operation),
    ]


def fails(production: ProductionPeriod) -> list[Trade]:
    """Real fails that could be queried on a graded day."""
    rules = production.rules(production.first_graded)
    days = range(production.first_graded, production.last_graded + 1)
    return [trade for trade in production.trades.values() if trade.failed and trade.isd + rules.first in days]


def shorts(production: ProductionPeriod) -> list[Entitlement]:
    """Short dividends that somebody has to claim, on a graded day."""
    days = range(production.first_graded, production.last_graded + 1)
    return [
        one
        for one in production.entitlements.values()
        if one.short and not compensated(one, production.facts) and one.event.pay + 5 in days
    ]


def _summary(production: ProductionPeriod, books: Books, entries: list[Entry]) -> Section:
    chased = [entry for entry in entries if entry.row.action == "CHASE"]
    avoided = sum(entry.eur for entry in entries if entry.why in ("in time", "reviewed"))
    lost = sum(entry.eur for entry in chased if entry.why != "in time")
    vain = sum(entry.eur for entry in entries if entry.why == "reviewed in vain")
    at_stake = sum(trade.loss for trade in fails(production)) + sum(one.value for one in shorts(production))
    return {
        "kind": "facts",
        "title": "Loss avoided",
        "items": [
            ["At stake: real fails and short dividends that have to be claimed", _eur(at_stake)],
            ["Avoided by queries and reviews, reviews at their price", _eur(avoided)],
            ["Unfounded, misdirected and harmful queries", _eur(lost)],
            ["Reviews that found nothing", _eur(vain)],
            ["Loss avoided", _eur(books.kpi * 1000)],
            ["Queries that counted", f"{sum(entry.why == 'in time' for entry in chased)} of {len(chased)}"],
        ],
    }


def _by_kind(production: ProductionPeriod, entries: list[Entry]) -> Section:
    stake: dict[str, float] = defaultdict(float)
    count: Counter[str] = Counter()
    got: dict[str, float] = defaultdict(float)
    for trade in fails(production):
        stake[_kind(trade)] += trade.loss
        count[_kind(trade)] += 1
    for one in shorts(production):
        stake[_kind(one)] += one.value
        count[_kind(one)] += 1
    for entry in entries:
        if entry.subject is not None and entry.why in ("in time", "reviewed"):
            got[_kind(entry.subject)] += entry.eur
    kinds = sorted({*stake, *got})
    return {
        "kind": "table",
        "title": "By custodian and kind",
        "columns": ["What", "Real", "At stake, EUR", "Avoided, EUR"],
        "rows": [[kind, count[kind], _number(stake[kind]), _number(got[kind])] for kind in kinds],
        "note": "",
    }


def _queries(entries: Iterable[Entry]) -> Section:
    counts: Counter[str] = Counter()
    eur: dict[str, float] = defaultdict(float)
    for entry in entries:
        if entry.row.action == "CHASE":
            counts[entry.why] += 1
            eur[entry.why] += entry.eur
    return {
        "kind": "table",
        "title": "Queries, by what came of them",
        "columns": ["What came of it", "Queries", "EUR"],
        "rows": [[words, counts[why], _number(eur[why])] for why, words in WHY.items() if counts[why]],
        "note": "",
    }


def _months(production: ProductionPeriod, entries: Iterable[Entry]) -> Section:
    months: dict[str, float] = {
        f"{DAYS[day]:%b %Y}": 0.0 for day in range(production.first_graded, production.last_graded + 1)
    }
    for entry in entries:
        months[f"{DAYS[entry.day]:%b %Y}"] += entry.eur / 1000
    return {
        "kind": "series",
        "title": "Loss avoided by month",
        "unit": "kEUR",
        "x": list(months),
        "series": [{"name": "Loss avoided", "values": [round(value, 2) for value in months.values()]}],
    }


def _missed(production: ProductionPeriod, books: Books) -> Section:
    asked = {entry.row.ref for entry in books.entries if entry.row.action == "CHASE" or entry.why == "reviewed"}
    left = [trade for trade in fails(production) if trade.trade_id not in asked]
    left.sort(key=lambda trade: -trade.loss)
    rows = [
        [trade.trade_id, _kind(trade), DAYS[trade.isd].isoformat(), trade.reason, _number(trade.loss)]
        for trade in left[:SAMPLES]
    ]
    return {
        "kind": "table",
        "title": "Real fails that nobody queried",
        "columns": ["Trade", "Where", "Intended", "Reason", "Loss, EUR"],
        "rows": rows,
        "note": f"{len(left)} in all, {_eur(sum(trade.loss for trade in left))}." if left else "None.",
    }


def _samples(entries: Iterable[Entry]) -> Section:
    taken: Counter[str] = Counter()
    rows: list[list[str]] = []
    for entry in entries:
        if entry.row.action == "CHASE" and taken[entry.why] < SAMPLES_PER_REASON and len(rows) < SAMPLES:
            taken[entry.why] += 1
            words = [DAYS[entry.day].isoformat(), entry.row.ref[:24], entry.row.party[:12], WHY[entry.why]]
            rows.append([*words, _number(entry.eur)])
    return {
        "kind": "table",
        "title": "Sample queries",
        "columns": ["Sent", "Reference", "To", "What came of it", "EUR"],
        "rows": rows,
        "note": "",
    }


def _operation(operation: Operation) -> Section:
    items: list[list[object]] = [["Mornings", operation.calls]]
    items += [[f"Runs that failed: {word}", count] for word, count in sorted(operation.failed.items())]
    items += [[f"Days without actions: {words}", count] for words, count in sorted(operation.unreadable_files.items())]
    if operation.unreadable_rows:
        items.append(["Rows that could not be read", operation.unreadable_rows])
    return {"kind": "facts", "title": "The morning run in operation", "items": items}


def _kind(subject: Trade | Entitlement) -> str:
    if isinstance(subject, Entitlement):
        return f"Dividends at {'Northgate' if subject.line.custodian == 'NGC' else 'Delorme'}"
    return KIND_WORDS[subject.line.kind]


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _eur(value: float) -> str:
    return f"{value:,.0f} EUR"
