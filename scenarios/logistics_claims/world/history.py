"""Ten months at the desk as they were: the script's decisions, the assessors', what lapsed, and the letters to hauliers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from scenarios.kit.tables import csv_bytes
from scenarios.kit.world import Streams, TaskView
from scenarios.logistics_claims.world.claims import Filed
from scenarios.logistics_claims.world.days import working_days
from scenarios.logistics_claims.world.decks import chance
from scenarios.logistics_claims.world.desk import Desk, Settled
from scenarios.logistics_claims.world.process import ClaimProcess, Period
from scenarios.logistics_claims.world.production import Run, source
from scenarios.logistics_claims.world.terms import Terms

FIRST_DAY, DAYS = date(2025, 11, 3), 215  #: to 28 August 2026
FIRST_NUMBER = 104_101
SHOWN_CLAIMS, SHOWN_LETTERS = 13_000, 540
SHADOW_DAYS = 10
NOTHING = "damage not proven"
REASONS = {
    "late": "late notice",
    "second": "shipment settled already",
    "found": "goods found",
    "packing": "packing noted at pick-up",
    "returned": "delivery refused",
    "": NOTHING,
}
DECISION_COLUMNS = ("claim_id", "decision", "by", "amount", "decided_on", "reason", "disputed", "final_amount")
LETTER_COLUMNS = ("letter_id", "claim_id", "haulier_id", "sent_on", "amount_eur", "outcome", "recovered_eur", "fee_eur")


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter to a haulier: ``recovered`` is nothing where it was turned down."""

    id: str
    settled: Settled
    sent: date
    recovered: float


@dataclass(frozen=True, slots=True)
class History:
    """``settled`` in the order of decision; ``filed`` in the order of receipt, the latest shown."""

    period: Period
    terms: Terms
    days: Sequence[date]
    desk: Desk
    filed: list[Filed]
    settled: list[Settled]


def history(task: TaskView, streams: Streams) -> History:
    """The desk with the system as found, from November 2025 to August 2026."""
    from scenarios.logistics_claims.grader.as_found import decision

    terms = Terms.of(task.facts)
    days = working_days(FIRST_DAY, DAYS)
    period = ClaimProcess(streams, "history", days, terms, odd_ids=False).draw()
    desk = Desk(period, days, terms, FIRST_NUMBER)
    settled: list[Settled] = []
    for day in range(DAYS):
        rows = {filed.id: decision(filed) for filed in desk.file(day)}
        settled += desk.settle(day, rows)
    filed = [one for of_day in desk.filed_by_day for one in of_day]
    return History(period, terms, days, desk, filed[-SHOWN_CLAIMS:], settled)


def shadow(task: TaskView, streams: Streams) -> Run:
    """The last ten visible working days, with the claims that came in on them, for a trial."""
    past = history(task, streams)
    days = list(past.days[-SHADOW_DAYS:])
    claims = [
        [
            replace(one.claim, owed=one.owed, threshold=None, uploads=1)
            for one in past.desk.filed_by_day[DAYS - SHADOW_DAYS + day]
        ]
        for day in range(SHADOW_DAYS)
    ]
    first = past.desk.filed_by_day[DAYS - SHADOW_DAYS][0]
    return Run(source(streams, Period(days, claims), days, past.terms, int(first.id.partition("-")[2])))


# ---- tables ----


def decisions_csv(past: History, streams: Streams) -> bytes:
    """What was decided on the claims shown. An assessor in three used to read R as refused."""
    misread = chance(streams.rng("history:misread"), 35)
    shown = {one.id for one in past.filed}
    rows = [
        _decision_row(one, past, misread=one.ending == "assessed" and _reserved(one, past.terms) and misread.draw())
        for one in past.settled
        if one.filed.id in shown
    ]
    return csv_bytes(DECISION_COLUMNS, rows)


def _reserved(one: Settled, terms: Terms) -> bool:
    shipment = one.filed.claim.shipment
    noted = shipment.receipt is not None and shipment.receipt.code == "R"
    return noted and one.filed.owed > 0 and not terms.refused_at_door(shipment.base_day)


def _decision_row(one: Settled, past: History, *, misread: bool) -> tuple[str, ...]:
    owed, day = one.filed.owed, past.days[one.on_day].isoformat()
    if one.ending == "paid":
        return one.filed.id, "PAY", "script", _eur(one.paid), day, "", "N", _eur(one.paid)
    if one.ending == "refused":
        return (
            one.filed.id,
            "REFUSE",
            "script",
            "0.00",
            day,
            "late notice, 14 days",
            "Y" if owed > 0 else "N",
            _eur(owed),
        )
    if one.ending == "assessed" and misread:
        return one.filed.id, "REFUSE", "assessor", "0.00", day, REASONS["returned"], "Y", _eur(owed)
    if one.ending == "assessed" and owed > 0:
        return one.filed.id, "PAY", "assessor", _eur(owed), day, "", "N", _eur(owed)
    if one.ending == "assessed":
        reason = "shipment settled already" if one.filed.claim.owed > 0 else REASONS[one.filed.claim.reason]
        return one.filed.id, "REFUSE", "assessor", "0.00", day, reason, "N", "0.00"
    if one.ending == "lapsed":
        return one.filed.id, "PAY", "lapse", _eur(one.paid), day, "no answer in 30 working days", "N", _eur(one.paid)
    return one.filed.id, "PAY", "lapse", _eur(owed), day, "complaint, no answer", "Y", _eur(owed)


def letters(past: History, streams: Streams) -> list[Letter]:
    """The latest letters about claims shown; a third of the hopeless ones were written all the same."""
    hopeless = chance(streams.rng("history:letters"), 35)
    shown = {one.id for one in past.filed}
    written: list[tuple[Settled, float]] = []
    for one in past.settled:
        if one.ending != "assessed" or not one.filed.claim.shipment.haulier or one.filed.owed <= 0:
            continue
        if (one.letter == "won" or hopeless.draw()) and one.filed.id in shown:
            written.append((one, one.recovered))
    kept = written[-SHOWN_LETTERS:]
    numbers: dict[int, int] = {}
    made = []
    for one, recovered in kept:
        sent = past.days[one.on_day]
        numbers[sent.year] = numbers.get(sent.year, 100) + 1
        made.append(Letter(f"RL{sent:%y}-{numbers[sent.year]:04d}", one, sent, recovered))
    return made


def letters_csv(written: Iterable[Letter], terms: Terms) -> bytes:
    rows = [
        (
            one.id, one.settled.filed.id, one.settled.filed.claim.shipment.haulier, one.sent, _eur(one.settled.filed.owed),
            "accepted" if one.recovered else "rejected", _eur(one.recovered),
            _eur(0.0 if one.recovered else terms.letter_fee),
        )
        for one in written
    ]  # fmt: skip
    return csv_bytes(LETTER_COLUMNS, rows)


def _eur(amount: float) -> str:
    return f"{amount:.2f}"
