"""The book and the two custodians, day by day: quantities, confirmations and payments, answering to effective queries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from scenarios.fund_recon.world.calendars import index_from, is_open
from scenarios.fund_recon.world.dividends import Entitlement, Event, withholding
from scenarios.fund_recon.world.trades import CANCELLED_AFTER, INSTRUCTED, PENDING, PENDING_AGAIN, Leg, Trade
from scenarios.fund_recon.world.universe import BDL_EQUITY, NGC_EQUITY, Line, Universe


@dataclass(frozen=True, slots=True)
class Payment:
    """A booking of cash, EUR."""

    entitlement: Entitlement
    gross: float
    withheld: float
    value_day: int

    @property
    def net(self) -> float:
        return round(self.gross - self.withheld, 2)


@dataclass(slots=True)
class Booking:
    """A print of the book: ``status`` is NEW, AMND or CANC."""

    trade: Trade
    status: str
    qty: int
    isd: int


@dataclass(slots=True)
class Morning:
    """What is true at seven on ``day``: quantities at the close before, confirmations of the night included.

    ``owed`` are entitlements whose pay date was the business day before.
    """

    day: int
    bookings: list[Booking] = field(default_factory=list)
    announced: list[Event] = field(default_factory=list)
    settled: list[tuple[Trade, Leg]] = field(default_factory=list)  #: of the night before this morning
    split: list[tuple[Trade, Leg]] = field(default_factory=list)  #: allocations of blocks confirmed the day before
    pending: list[tuple[Trade, int]] = field(default_factory=list)  #: with the print that says so
    payments: list[Payment] = field(default_factory=list)
    owed: list[Entitlement] = field(default_factory=list)


class Market:
    """Moves from morning to morning with ``morning``; ``fix`` and ``claim`` are how the desks answer.

    Lists indexed by line: ``traded`` and ``settled`` quantities at the close before the current morning.
    """

    def __init__(
        self, universe: Universe, trades: Sequence[Trade], events: Sequence[Event], facts: Mapping[str, Any]
    ) -> None:
        self.universe, self.trades, self.events, self.facts = universe, trades, events, facts
        self.traded, self.settled = list(universe.opening), list(universe.opening)
        self.overdue: dict[int, Trade] = {}  #: number → trade with something open after its intended date
        self.basis_from = index_from(date.fromisoformat(facts["basis_from"]))
        self._made: dict[int, list[Trade]] = defaultdict(list)
        self._changed: dict[int, list[Trade]] = defaultdict(list)
        self._due: dict[int, list[Trade]] = defaultdict(list)
        self._legs: dict[int, list[tuple[Trade, Leg]]] = defaultdict(list)
        self._cash: dict[int, list[Payment]] = defaultdict(list)
        self._claimed: set[str] = set()
        for trade in trades:
            self._made[trade.traded].append(trade)
            self._due[trade.isd].append(trade)
            changed = trade.amended_on if trade.amended_on is not None else trade.cancelled_on
            if changed is not None:
                self._changed[changed].append(trade)
            for leg in trade.legs:
                self._legs[leg.day].append((trade, leg))
        self._announced: dict[int, list[Event]] = defaultdict(list)
        self._ex: dict[int, list[Event]] = defaultdict(list)
        self._paid: dict[int, list[Event]] = defaultdict(list)
        self._owed: dict[int, list[Event]] = defaultdict(list)
        for event in events:
            self._announced[event.announced].append(event)
            self._ex[event.ex].append(event)
            self._paid[event.pay + event.lag].append(event)
            self._owed[event.pay].append(event)

    # ---- a day ----

    def morning(self, day: int) -> Morning:
        """Close the business day before and open ``day``; days come one after another."""
        now = Morning(day, announced=self._announced[day])
        self._close(day - 1, now)
        self._expire(day, now)
        for event in self._ex[day]:
            for entitlement in event.entitlements:
                entitlement.entitled = self.traded[entitlement.line.number]
        now.settled = [pair for pair in self._legs[day] if pair[1].qty]
        now.split = [(trade, leg) for trade, leg in self._legs[day - 1] if not leg.alone]
        now.pending = self._pending(day)
        self._pay(day - 1)
        now.payments = self._cash[day - 1]
        now.owed = [entitlement for event in self._owed[day - 1] for entitlement in event.entitlements]
        return now

    def _close(self, day: int, now: Morning) -> None:
        for trade in self._made[day]:
            first = trade.first_qty if trade.amended_on is not None else trade.qty
            self.traded[trade.line.number] += trade.side * first
            now.bookings.append(Booking(trade, "NEW", first, trade.first_isd))
        for trade in self._changed[day]:
            if trade.cancelled_on is not None:
                self.traded[trade.line.number] -= trade.signed
                now.bookings.append(Booking(trade, "CANC", trade.qty, trade.isd))
            else:
                self.traded[trade.line.number] += trade.side * (trade.qty - trade.first_qty)
                now.bookings.append(Booking(trade, "AMND", trade.qty, trade.isd))
        for trade, leg in self._legs[day]:
            self.settled[trade.line.number] += trade.side * leg.qty
        for trade in self._due[day]:
            if trade.open_on(day):
                self.overdue[trade.number] = trade
        for number in [number for number, trade in self.overdue.items() if not trade.open_on(day)]:
            del self.overdue[number]

    def _expire(self, day: int, now: Morning) -> None:
        """Cancel what nobody queried in time: the whole instruction, or the part that is open."""
        for trade in self._due[day - CANCELLED_AFTER] if day >= CANCELLED_AFTER else ():
            rest = trade.open_on(day - 1)
            if not rest or any(leg.day >= day for leg in trade.legs):
                continue
            self.traded[trade.line.number] -= trade.side * rest
            self.overdue.pop(trade.number, None)
            if rest == trade.qty:
                trade.cancelled_on = day - 1
                now.bookings.append(Booking(trade, "CANC", trade.qty, trade.isd))
            else:
                trade.amount = round(trade.amount * (trade.qty - rest) / trade.qty, 2)
                trade.qty -= rest
                now.bookings.append(Booking(trade, "AMND", trade.qty, trade.isd))

    def _pending(self, day: int) -> list[tuple[Trade, int]]:
        found = [(trade, INSTRUCTED) for trade in self._made[day - 1] if trade.cycle > 3 and trade.cancelled_on is None]
        for trade in self._due[day]:
            if trade.open_on(day) and not trade.silent and not any(leg.day == day for leg in trade.legs):
                found.append((trade, PENDING))
        for trade in self._due[day - 1]:
            told = trade.first_reason == trade.reason and not trade.settled_by(day)
            if trade.open_on(day) and not told and not trade.silent:
                found.append((trade, PENDING_AGAIN))
        return found

    # ---- quantities that the custodians report ----

    def reported(self, day: int) -> list[int]:
        """The quantity of every line in the custodians' files of that morning, in units of the book."""
        quantities = list(self.settled)
        basis = self.facts["ngc_equity_basis"] if day >= self.basis_from else "settled_only"
        if basis != "settled_only":
            for line in self.universe.lines:
                if line.kind == NGC_EQUITY:
                    quantities[line.number] = self.traded[line.number]
            if basis == "traded_less_fails":
                for trade in self.overdue.values():
                    if trade.line.kind == NGC_EQUITY:
                        quantities[trade.line.number] -= trade.side * trade.open_on(day - 1)
        return quantities

    def as_reported(self, line: Line, units: int, day: int) -> int:
        """Units of the book as the custodian writes them: original face for amortising bonds since the change."""
        if line.security.amortising and day >= self.basis_from:
            return units // line.security.factor * 10_000
        return units

    def reports_original_face(self, line: Line, day: int) -> bool:
        return line.security.amortising and day >= self.basis_from

    # ---- payments ----

    def _pay(self, day: int) -> None:
        for event in self._paid[day]:
            for entitlement in event.entitlements:
                self._book(entitlement, entitlement.entitled - entitlement.missing, day)
        if not self.facts["bdl_compensates"]:
            return
        for back in range(6, 11):
            for event in self._owed[day - back] if day >= back else ():
                for entitlement in event.entitlements:
                    own = entitlement.short and entitlement.own_days == back and compensated(entitlement, self.facts)
                    if own and entitlement.ref not in self._claimed:
                        self._book(entitlement, entitlement.missing, day)

    def _book(self, entitlement: Entitlement, units: int, day: int) -> None:
        gross = round(abs(units) * entitlement.event.rate, 2)
        rate = withholding(entitlement.line.security.country, self.facts)
        sign = 1 if units >= 0 else -1
        self._cash[day].append(Payment(entitlement, sign * gross, round(sign * gross * rate, 2), day))

    # ---- what an effective query does ----

    def fix(self, trade: Trade, day: int) -> None:
        """Somebody acts on a fail that was queried on the morning of ``day``: the rest settles some days later."""
        when = day + trade.fix_days
        while not is_open(trade.line.custodian, when):
            when += 1
        rest = trade.open_on(day)
        leg = Leg(when, rest, "PARC" if rest < trade.qty else "")
        trade.legs.append(leg)
        self._legs[when].append((trade, leg))

    def claim(self, entitlement: Entitlement, day: int) -> None:
        """A short dividend was claimed by hand: paid, or, where Delorme compensates it, begun and taken back."""
        if not compensated(entitlement, self.facts):
            self._book(entitlement, entitlement.missing, day + entitlement.fix_days)
            return
        self._claimed.add(entitlement.ref)
        self._book(entitlement, entitlement.missing, day + 1)
        self._book(entitlement, -entitlement.missing, day + 3)


def compensated(entitlement: Entitlement, facts: Mapping[str, Any]) -> bool:
    """Whether the custodian compensates a short payment of this event by itself."""
    at_delorme = entitlement.line.kind == BDL_EQUITY
    return bool(facts["bdl_compensates"]) and at_delorme and entitlement.event.comp == "AUTO"
