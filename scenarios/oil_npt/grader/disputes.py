"""Whether the contractor disputes a line, for which reason, and what a month's claims bring.

The contractor checks every line against the record; one disputed line holds the whole claim of that rig and month.
Tolerances are a quarter of an hour, as the customer and its contractors agreed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Literal

from scenarios.oil_npt.grader.claims import Claim, ClaimLine
from scenarios.oil_npt.grader.ledger import Clock, Credit, month_of, next_month, total_hours, within
from scenarios.oil_npt.world.stoppages import Stoppage

TOLERANCE_H = 0.25
TOLERANCE = timedelta(hours=TOLERANCE_H)
ROUNDING_H = 0.01
REVIEWS_A_MONTH = 6  #: doubtful lines that Cost Engineering can look at, all rigs together
COVERED = 0.5  #: part of a line's window that must lie in the stop it claims

Reason = Literal[
    "form", "item", "service_or_hole", "beyond", "own_use", "allowance", "recurrence", "revision", "notice"
]
REASON_WORDS: Mapping[Reason, str] = {
    "item": "not the contractor's item",
    "beyond": "hours beyond resumption",
    "own_use": "own use",
    "allowance": "allowance",
    "recurrence": "recurrence",
    "revision": "revision",
    "service_or_hole": "service or hole",
    "notice": "no notice",
    "form": "form",
}
BEYOND_WORDS: Mapping[Clock, str] = {
    "resume": "hours beyond resumption",
    "accept": "hours beyond acceptance",
    "repair": "hours beyond the repair",
}


@dataclass(frozen=True, slots=True)
class Record:
    """What the contractor's office knows of the rigs. ``credits`` and ``others`` are per rig, in time order."""

    credits: Mapping[str, list[Credit]]
    others: Mapping[str, list[Stoppage]]  #: stops that are not the contractor's
    tags: Callable[[str], frozenset[str]]
    report_ids: Callable[[str, datetime, datetime], list[str]]  #: reports, as printed, that tell of a window
    binding_rev: Callable[[str], int]  #: report id → revision that counts
    noticed: Callable[[Credit], bool] = field(default=lambda _: True)


@dataclass(slots=True)
class JudgedLine:
    """One line and what became of it. ``hours`` is what counts for its stop; a reviewed line gets the true hours."""

    line: ClaimLine
    credit: Credit | None
    hours: float
    reason: Reason | None = None  #: None: accepted
    unfounded_h: float = 0.0
    reviewed: bool = False


@dataclass(slots=True)
class JudgedClaim:
    """A rig's claim of one month. ``grounded_h`` are the hours that are creditable, released or held."""

    rig: str
    month: date
    lines: list[JudgedLine]
    unreadable: tuple[tuple[int, str], ...]
    grounded_h: float = 0.0

    @property
    def reason(self) -> Reason | None:
        """The first reason for which the claim is held; None: released."""
        if self.unreadable:
            return "form"
        return next((line.reason for line in self.lines if line.reason is not None), None)

    @property
    def credited_h(self) -> float:
        return self.grounded_h if self.reason is None else 0.0

    @property
    def unfounded_h(self) -> float:
        return sum(line.unfounded_h for line in self.lines)


def judge_month(claims: Mapping[str, Claim], month: date, record: Record) -> list[JudgedClaim]:
    """Hold the claims of one month (rig → claim) against the record, in the order of the rigs' names."""
    judged = [_judge_claim(claims[rig], month, record) for rig in sorted(claims)]
    _review(claims, judged, month, record)
    for claim in judged:
        claim.grounded_h = _grounded_hours(claim, month)
    return judged


def _judge_claim(claim: Claim, month: date, record: Record) -> JudgedClaim:
    judged = JudgedClaim(claim.rig, month, [], claim.unreadable)
    overlapping = _overlapping([line for line in claim.lines if not line.review])
    claimed: dict[int, float] = defaultdict(float)
    for line in claim.lines:
        if line.review:
            continue
        credit = find_credit(line, record.credits.get(claim.rig, []))
        result = JudgedLine(line, credit, line.hours)
        judged.lines.append(result)
        if credit is None:
            result.unfounded_h = line.hours
        elif record.noticed(credit):
            before = claimed[id(credit)]
            claimed[id(credit)] += line.hours
            due = credit.credit_in(month)
            result.unfounded_h = max(0.0, before + line.hours - due) - max(0.0, before - due)
        result.reason = _line_reason(result, claim.rig, month, record, line in overlapping)
    for result in judged.lines:
        credit = result.credit
        if result.reason is None and credit is not None:
            total = claimed[id(credit)]
            if total > credit.credit_in(month) + TOLERANCE_H:
                result.reason = _excess_reason(credit, total, month, record.credits[claim.rig])
    return judged


def _line_reason(judged: JudgedLine, rig: str, month: date, record: Record, overlaps: bool) -> Reason | None:
    """Why the line is disputed by itself, before hours are added up over its stop."""
    line, credit = judged.line, judged.credit
    first = datetime.combine(month, time())
    outside_month = line.start < first or line.end > datetime.combine(next_month(month), time())
    if outside_month or overlaps or line.tag not in record.tags(rig):
        return "form"
    if credit is None:
        return _no_stop_reason(line, rig, record)
    if not record.noticed(credit):
        return "notice"
    if line.start < credit.start - TOLERANCE or line.end > credit.resumed + TOLERANCE:
        return "revision" if _fits_another_version(line, credit) else "beyond"
    reports = record.report_ids(rig, line.start, line.end)
    if sorted(line.evidence) != sorted(f"{report}@{record.binding_rev(report)}" for report in reports):
        return "revision"
    return None


def find_credit(line: ClaimLine, credits: Iterable[Credit]) -> Credit | None:
    """The contractor's stop on the line's item that covers most of its window, if it covers at least half of it."""
    best, most = None, line.window * COVERED
    for credit in credits:
        if credit.stoppage.tag == line.tag:
            covered = min(line.end, credit.resumed) - max(line.start, credit.start)
            if covered >= most and covered > timedelta():
                best, most = credit, covered
    return best


def _no_stop_reason(line: ClaimLine, rig: str, record: Record) -> Reason:
    """A line on no stop of the contractor's: on which stop does most of it lie?"""
    kind, most = "", timedelta()
    stops = [("C", credit.start, credit.resumed) for credit in record.credits.get(rig, [])]
    stops += [(stop.kind, _start(stop), _end(stop)) for stop in record.others.get(rig, [])]
    for name, start, end in stops:
        covered = min(line.end, end) - max(line.start, start)
        if covered > most:
            kind, most = name, covered
    return "service_or_hole" if kind in ("H", "R") else "item"


def _fits_another_version(line: ClaimLine, credit: Credit) -> bool:
    return any(
        version is not credit.version
        and line.start >= version.segments[0].start - TOLERANCE
        and line.end <= version.segments[-1].end + TOLERANCE
        for version in credit.stoppage.versions
    )


def _excess_reason(credit: Credit, claimed_h: float, month: date, rig_credits: list[Credit]) -> Reason:
    """The rule that the hours above the credit break, the likeliest first."""
    excess = claimed_h - credit.credit_in(month)
    gross = total_hours(within(credit.counted, month))
    for version in credit.stoppage.versions:
        counted = tuple((part.start, part.end) for part in version.segments if credit.terms.counts(part))
        longer_h = total_hours(within(counted, month)) - gross
        fits = gross + TOLERANCE_H < claimed_h <= gross + longer_h + TOLERANCE_H
        if version is not credit.version and (fits or abs(longer_h - excess) <= ROUNDING_H):
            return "revision"
    own_use = credit.own_use_h if credit.terms.own_use == "deduct" else 0.0
    if own_use and abs(excess - own_use) <= ROUNDING_H:
        return "own_use"
    if claimed_h > gross + TOLERANCE_H:
        return "own_use" if own_use and claimed_h <= gross + own_use + TOLERANCE_H else "beyond"
    recurred = any(
        other.recurring and other.start < credit.start and month_of(other.start) == month_of(credit.start)
        for other in rig_credits
    )
    return "recurrence" if recurred else "allowance"


def _overlapping(lines: list[ClaimLine]) -> set[ClaimLine]:
    found: set[ClaimLine] = set()
    seen: set[ClaimLine] = set()
    latest: ClaimLine | None = None
    for line in sorted(lines, key=lambda line: (line.start, line.end)):
        if line in seen:
            found.add(line)  # the same line word for word
        seen.add(line)
        if latest is not None and line.start < latest.end:
            found.update((line, latest))
        if latest is None or line.end > latest.end:
            latest = line
    return found


def _review(claims: Mapping[str, Claim], judged: list[JudgedClaim], month: date, record: Record) -> None:
    """Cost Engineering puts the first doubtful lines of the month right; the others lapse."""
    doubtful = [
        (claim, line)
        for claim in judged
        for line in sorted(claims[claim.rig].lines, key=lambda line: line.number)
        if line.review
    ]
    for claim, line in doubtful[:REVIEWS_A_MONTH]:
        credit = find_credit(line, record.credits.get(claim.rig, []))
        if credit is None or not record.noticed(credit):
            continue
        claimed = sum(other.hours for other in claim.lines if other.credit is credit)
        due = max(0.0, credit.credit_in(month) - claimed)
        claim.lines.append(JudgedLine(line, credit, due, reviewed=True))


def _grounded_hours(claim: JudgedClaim, month: date) -> float:
    hours: dict[int, float] = defaultdict(float)
    credits: dict[int, Credit] = {}
    for line in claim.lines:
        if line.credit is not None and line.reason != "notice":
            hours[id(line.credit)] += line.hours
            credits[id(line.credit)] = line.credit
    return sum(min(total, credits[key].credit_in(month)) for key, total in hours.items())


def _start(stop: Stoppage) -> datetime:
    return stop.versions[-1].segments[0].start


def _end(stop: Stoppage) -> datetime:
    return stop.versions[-1].segments[-1].end
