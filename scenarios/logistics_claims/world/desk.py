"""The claims desk's day: what is filed, what a decision costs, the assessors' queue, and what lapses in it.

Depends on nothing but the decisions and what was drawn before: the same decisions give the same day anywhere.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from scenarios.logistics_claims.world.claims import Filed
from scenarios.logistics_claims.world.process import Period
from scenarios.logistics_claims.world.terms import Terms

Decision = Literal["PAY", "REFUSE", "QUEUE"]
Ending = Literal["paid", "refused", "assessed", "lapsed", "complained"]
Letter = Literal["", "won", "unfounded"]

CLERK_EUR = 12.0  #: a payment without a rule is keyed by a clerk
ASSESSOR_EUR = 18.0
CONTESTED_EUR = 70.0  #: a payment that is too low
TOKEN = 0.5  #: below this share of what is owed, a payment is fought over as a refusal is
COMPLAINT_EUR = 45.0
DISPUTE_EUR = {"spot": 120.0, "frame": 320.0, "key": 320.0}
MEMORY_DAYS = 20
FIRST_SHARE = 0.30  #: of invalid small claims paid, before the period begins
NOT_WORTH_IT, EAGERNESS = 0.12, 1.25
ENOUGH, ROUNDING_EUR = 0.97, 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """A decision as production reads it. ``amount`` of a PAY is a positive finite number of EUR."""

    claim_id: str
    decision: Decision
    amount: float = 0.0
    rule: str = ""
    letter: bool = False
    haulier: str = ""
    priority: float = 0.0


@dataclass(frozen=True, slots=True)
class Settled:
    """A claim that is done with. EUR: ``paid`` to the claimant, ``extra`` for the dispute, ``handling``, ``fee`` of an
    unfounded letter, ``recovered`` from the haulier."""

    filed: Filed
    on_day: int
    ending: Ending
    paid: float
    extra: float
    handling: float
    letter: Letter
    recovered: float
    fee: float
    row: Row | None = None

    @property
    def cost(self) -> float:
        return self.paid + self.extra + self.handling + self.fee - self.recovered


def pay(filed: Filed, row: Row, today: date, day: int, terms: Terms) -> Settled:
    """What a payment costs. One that is short by no more than rounding is made up on the claimant's reminder."""
    owed, paid, extra = filed.owed, row.amount, 0.0
    if owed > 0 and paid < ENOUGH * owed - ROUNDING_EUR:
        extra = DISPUTE_EUR[filed.claim.shipment.cls] if paid < TOKEN * owed else CONTESTED_EUR
        paid = owed
    elif owed > 0:
        paid = max(paid, owed)
    letter: Letter = ""
    recovered = fee = 0.0
    if row.letter:
        if may_charge(filed, today) and row.haulier == filed.claim.shipment.haulier:
            letter, recovered = "won", round(terms.letter_share * min(row.amount, owed), 2)
        else:
            letter, fee = "unfounded", terms.letter_fee
    handling = 0.0 if row.rule else CLERK_EUR
    return Settled(filed, day, "paid", paid, extra, handling, letter, recovered, fee, row)


def refuse(filed: Filed, row: Row, day: int) -> Settled:
    """What a refusal costs: nothing where it is right and can be explained."""
    right = filed.owed <= 0 and bool(row.rule)
    extra = 0.0 if right else DISPUTE_EUR[filed.claim.shipment.cls]
    return Settled(filed, day, "refused", filed.owed, extra, 0.0, "", 0.0, 0.0, row)


def assess(filed: Filed, today: date, day: int, terms: Terms) -> Settled:
    """An assessor finds out what is owed, and writes to the haulier if that is still worth it."""
    won = may_charge(filed, today)
    recovered = round(terms.letter_share * filed.owed, 2) if won else 0.0
    return Settled(filed, day, "assessed", filed.owed, 0.0, ASSESSOR_EUR, "won" if won else "", recovered, 0.0)


def may_charge(filed: Filed, today: date) -> bool:
    until = filed.claim.letter_until
    return until is not None and today <= until and filed.owed > 0


def lapse(filed: Filed, day: int, terms: Terms) -> Settled | None:
    """What waiting has come to by this working day; None while nothing has happened yet."""
    waited = day - filed.day
    if filed.claim.shipment.cls != "spot":
        if waited < terms.silence:
            return None
        return Settled(filed, day, "lapsed", filed.claim.claimed, 0.0, 0.0, "", 0.0, 0.0)
    if waited < terms.complaint:
        return None
    return Settled(filed, day, "complained", filed.owed, COMPLAINT_EUR, 0.0, "", 0.0, 0.0)


class Desk:
    """The desk over one period. ``file`` and ``settle`` are called once for each working day, in this order."""

    def __init__(self, period: Period, days: Sequence[date], terms: Terms, first_number: int) -> None:
        self.days, self._period, self._terms = days, period, terms
        self._next = first_number
        self._sequence = 0
        self._shares: deque[float] = deque([FIRST_SHARE] * MEMORY_DAYS, maxlen=MEMORY_DAYS)
        self.open: dict[str, Filed] = {}  #: claims that nobody has decided, in the order of receipt
        self.filed_by_day: list[list[Filed]] = []

    def file(self, day: int) -> list[Filed]:
        """The claims that come in on this working day, under their numbers."""
        share = sum(self._shares) / MEMORY_DAYS
        worth_it = max(0.0, EAGERNESS * (share - NOT_WORTH_IT))
        filed: list[Filed] = []
        for claim in self._period.claims[day] if day < len(self._period.claims) else ():
            if claim.threshold is not None and claim.threshold > worth_it:
                continue
            for upload in range(claim.uploads):
                number = f"CL{claim.received:%y}-{self._next:06d}"
                filed.append(Filed(number, self._sequence, day, claim, claim.owed if upload == 0 else 0.0))
                self._next += 1
                self._sequence += 1
        self.filed_by_day.append(filed)
        self.open.update((one.id, one) for one in filed)
        return filed

    def settle(self, day: int, rows: Mapping[str, Row]) -> list[Settled]:
        """Carry out the day's decisions; then what is overdue lapses, and the assessors take their number."""
        today, done = self.days[day], []
        for name, row in rows.items():
            filed = self.open.get(name)
            if filed is None:
                continue
            if row.decision == "QUEUE":
                filed.priority = row.priority
                continue
            del self.open[name]
            done.append(pay(filed, row, today, day, self._terms) if row.decision == "PAY" else refuse(filed, row, day))
        self._remember(day, done)
        for filed in list(self.open.values()):
            lapsed = lapse(filed, day, self._terms)
            if lapsed is not None:
                del self.open[filed.id]
                done.append(lapsed)
        first = heapq.nsmallest(
            self._terms.decisions_a_day, self.open.values(), key=lambda one: (-one.priority, one.sequence)
        )
        for filed in first:
            del self.open[filed.id]
            done.append(assess(filed, today, day, self._terms))
        return done

    def _remember(self, day: int, done: Sequence[Settled]) -> None:
        """The share of today's invalid small claims that were paid at once; a day without any changes nothing."""
        nonsense = sum(one.claim.invalid_small for one in self.filed_by_day[day])
        if not nonsense:
            self._shares.append(sum(self._shares) / MEMORY_DAYS)
            return
        paid = sum(one.ending == "paid" and one.filed.day == day and one.filed.claim.invalid_small for one in done)
        self._shares.append(paid / nonsense)
