"""Explains the KPI in the customer's words: hours by month, why claims are held, and sample lines with their rule."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from scenarios.oil_npt.grader.disputes import BEYOND_WORDS, REASON_WORDS, JudgedClaim, JudgedLine, Reason
from scenarios.oil_npt.grader.ledger import Credit

if TYPE_CHECKING:
    from scenarios.oil_npt.grader.replay import Observed

SAMPLES = 10
SAMPLES_PER_REASON = 2

Section = Mapping[str, Any]
Judged = Mapping[date, list[JudgedClaim]]


def breakdown(judged: Judged, credits: Iterable[Credit], observed: Observed) -> list[Section]:
    return [
        _totals(judged, list(credits), observed),
        _months(judged),
        _held(judged, observed),
        _samples(judged),
        _operation(observed),
    ]


def unclaimed_hours(judged: Judged, credits: Iterable[Credit]) -> float:
    """Creditable hours of the graded months on stops that no line names."""
    claimed = {
        (claim.rig, month, id(line.credit.stoppage))
        for month, claims in judged.items()
        for claim in claims
        for line in claim.lines
        if line.credit is not None
    }
    return sum(
        credit.credit_in(month)
        for credit in credits
        for month in credit.months()
        if month in judged and (credit.stoppage.rig, month, id(credit.stoppage)) not in claimed
    )


def _totals(judged: Judged, credits: list[Credit], observed: Observed) -> Section:
    claims = [claim for month in judged.values() for claim in month if claim.lines or claim.unreadable]
    held = [claim for claim in claims if claim.reason is not None]
    due = sum(credit.credit_in(month) for credit in credits for month in judged)
    never = unclaimed_hours(judged, credits)
    credited_or_held = sum(claim.credited_h for claim in claims) + sum(claim.grounded_h for claim in held)
    short = max(0.0, due - never - credited_or_held)
    return {
        "kind": "facts",
        "title": "Where the hours went",
        "items": [
            ["Hours the contracts give in the period", _hours(due)],
            ["Credited: in claims that were released", _hours(sum(claim.credited_h for claim in claims))],
            ["On hold: right hours in claims with a disputed line", _hours(sum(claim.grounded_h for claim in held))],
            ["Claimed without ground (set off at half rate)", _hours(sum(claim.unfounded_h for claim in claims))],
            ["Claimed too short: due hours that no line asks for on stops that lines name", _hours(short)],
            ["Never claimed: stops that no line names", _hours(never)],
            ["Claims released", f"{len(claims) - len(held)} of {len(claims)}"],
        ],
    }


def _months(judged: Judged) -> Section:
    def total(pick: str) -> list[float]:
        return [round(sum(_pick(claim, pick) for claim in claims), 2) for claims in judged.values()]

    return {
        "kind": "series",
        "title": "Hours by month",
        "unit": "h",
        "x": [f"{month:%b %Y}" for month in judged],
        "series": [{"name": name, "values": total(name)} for name in ("Credited", "On hold", "Without ground")],
    }


def _pick(claim: JudgedClaim, name: str) -> float:
    if name == "Credited":
        return claim.credited_h
    if name == "On hold":
        return claim.grounded_h - claim.credited_h
    return claim.unfounded_h


def _held(judged: Judged, observed: Observed) -> Section:
    reasons: Counter[str] = Counter()
    hours: dict[str, float] = defaultdict(float)
    for claim in (claim for claims in judged.values() for claim in claims):
        if claim.reason is not None:
            first = next((line for line in claim.lines if line.reason is not None), None)
            words = _words(claim.reason, first)
            reasons[words] += 1
            hours[words] += claim.grounded_h
    missing = sum(month not in observed.closed for month in judged)
    return {
        "kind": "table",
        "title": "Claims on hold, by the first reason in the contractor's reply",
        "columns": ["Reason", "Rigs and months", "Right hours held back"],
        "rows": [[words, count, _hours(hours[words])] for words, count in reasons.most_common()],
        "note": f"{missing} month-ends brought no claims because the closing failed." if missing else "",
    }


def _samples(judged: Judged) -> Section:
    taken: Counter[Reason | None] = Counter()
    rows: list[list[str]] = []
    lines = [(claim, line) for claims in judged.values() for claim in claims for line in claim.lines]
    disputed = [pair for pair in lines if pair[1].reason is not None]
    accepted = [pair for pair in lines if pair[1].reason is None]
    for claim, line in [*disputed, *accepted]:
        limit = SAMPLES if line.reason is None else SAMPLES_PER_REASON
        if len(rows) < SAMPLES and taken[line.reason] < limit:
            taken[line.reason] += 1
            rows.append([
                claim.rig,
                f"{line.line.start:%Y-%m-%d %H:%M}",
                line.line.tag[:20],
                f"{line.hours:.2f}",
                _outcome(claim, line),
                explain(line, claim.month),
            ])  # fmt: skip
    return {
        "kind": "table",
        "title": "Sample lines and the rule that decided",
        "columns": ["Rig", "From", "Item", "Hours", "Outcome", "Why"],
        "rows": rows,
        "note": "",
    }


def _operation(observed: Observed) -> Section:
    words = {"ingest": "Mornings", "digest": "Digests", "close": "Month-ends", "ask": "Questions from the intranet"}
    calls = [
        [words[call], f"{count}, {observed.failures[call]} failed" if observed.failures[call] else f"{count}"]
        for call, count in sorted(observed.calls.items())
    ]
    mails = [["Mails sent", observed.mailroom.sent], ["Stop lines in them", observed.mailroom.stop_lines]]
    return {"kind": "facts", "title": "The system in operation", "items": [*calls, *mails]}


def explain(line: JudgedLine, month: date) -> str:
    """One sentence: the rule that decided this line."""
    credit = line.credit
    if line.reason == "form":
        return "The line is outside its month, overlaps another, or names an item that this rig does not have."
    if line.reason == "service_or_hole":
        return "Routine service and hole trouble are the operator's, whatever the crew coded."
    if line.reason == "item" or credit is None:
        return "No stop on an item of the contractor's covers this window."
    if line.reason == "notice":
        return "The stop was not notified in the stop-line form by six the next morning."
    if line.reason == "revision":
        return "It does not follow the revision of the report that both sides stand by."
    if line.reason == "beyond":
        return f"The stop ran {_span(credit.start, credit.resumed)}; the line has more. Due: {_due(credit, month)}."
    if line.reviewed:
        return f"Cost Engineering put it right: {_due(credit, month)}."
    return f"Due: {_due(credit, month)}."


def _due(credit: Credit, month: date) -> str:
    parts = [f"{credit.gross_h:.2f} h counted"]
    if credit.terms.own_use == "deduct" and credit.own_use_h:
        parts.append(f"{credit.own_use_h:.2f} h own use left out")
    if credit.recurring:
        parts.append("a recurrence, no allowance")
    else:
        parts.append(f"{credit.allowance_h:.2f} h allowance ({credit.used_before_h:.2f} h used before)")
    return f"{', '.join(parts)}: {credit.credit_in(month):.2f} h in {month:%B}"


def _outcome(claim: JudgedClaim, line: JudgedLine) -> str:
    if line.reason is not None:
        return f"disputed: {_words(line.reason, line)}"
    return "released" if claim.reason is None else "right, but held with its claim"


def _words(reason: Reason, line: JudgedLine | None) -> str:
    if reason == "beyond" and line is not None and line.credit is not None:
        return BEYOND_WORDS[line.credit.terms.clock]
    return REASON_WORDS[reason]


def _span(start: datetime, end: datetime) -> str:
    return f"from {start:%d %b %H:%M} to {end:%d %b %H:%M}"


def _hours(value: float) -> str:
    return f"{value:,.2f} h"
