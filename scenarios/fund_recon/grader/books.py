"""What each query of a delivery was worth: the customer's books of the period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from scenarios.fund_recon.grader.actions import Actions, Row
from scenarios.fund_recon.world.desk import Verdict, judge_entitlement, judge_trade
from scenarios.fund_recon.world.dividends import Entitlement
from scenarios.fund_recon.world.market import Market
from scenarios.fund_recon.world.rules import PARTIES, Party, Rules
from scenarios.fund_recon.world.trades import Trade

UNFOUNDED_EUR = 120.0
REVIEW_EUR = 35.0
REPEATS_CHARGED = 3


class ProductionPeriod(Protocol):
    """What the world brings, and the truth that only the grader may see."""

    @property
    def facts(self) -> Mapping[str, Any]: ...
    @property
    def indices(self) -> range: ...
    @property
    def first_graded(self) -> int: ...
    @property
    def last_graded(self) -> int: ...
    @property
    def market(self) -> Market: ...
    @property
    def trades(self) -> Mapping[str, Trade]: ...
    @property
    def entitlements(self) -> Mapping[str, Entitlement]: ...
    def rules(self, day: int) -> Rules: ...
    def drop(self, day: int) -> dict[str, bytes]: ...
    def react(self, outputs: tuple[int, Sequence[Trade], Sequence[Entitlement]]) -> None: ...


@dataclass(frozen=True, slots=True)
class Entry:
    """A query or a review as it was settled. ``why`` is a word of ``breakdown.WHY``; ``eur`` goes into the KPI."""

    day: int
    row: Row
    why: str
    eur: float
    subject: Trade | Entitlement | None = None


@dataclass(slots=True)
class Books:
    """``enter`` takes the actions of one morning after the other and says what has to be acted upon."""

    production: ProductionPeriod
    entries: list[Entry] = field(default_factory=list)
    large: list[Trade] = field(default_factory=list)  #: broker queries above the depositary's limit
    _used: set[str] = field(default_factory=set)  #: references that were queried, looked at in time, or closed
    _closed: set[str] = field(default_factory=set)
    _repeats: Counter[str] = field(default_factory=Counter)

    @property
    def kpi(self) -> float:
        """kEUR over the graded days; what happens in October has no price."""
        return sum(entry.eur for entry in self.graded()) / 1000

    def graded(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.day >= self.production.first_graded]

    def enter(self, day: int, actions: Actions) -> tuple[list[Trade], list[Entitlement]]:
        """The trades and entitlements whose query or review of this morning has an effect on later drops."""
        trades: list[Trade] = []
        claims: list[Entitlement] = []
        rules = self.production.rules(day)
        for row in actions.rows:
            if row.action == "CLOSE":
                self._used.add(row.ref)
                self._closed.add(row.ref)
            elif row.action == "CHASE":
                self._chase(day, row, rules, trades, claims)
        self._review(day, [row for row in actions.rows if row.action == "REVIEW"], rules, trades, claims)
        return trades, claims

    def subject(self, row: Row) -> Trade | Entitlement | None:
        """What a reference means; None for positions, for other kinds and for what does not exist."""
        if row.kind == "TRADE":
            return self.production.trades.get(row.ref)
        return self.production.entitlements.get(row.ref) if row.kind == "ENT" else None

    # ---- queries ----

    def _chase(self, day: int, row: Row, rules: Rules, trades: list[Trade], claims: list[Entitlement]) -> None:
        subject = self.subject(row)
        if isinstance(subject, Trade) and row.party == "BROKER":
            limit = float(self.production.facts["consent_limit_eur"])
            if self.production.facts["consent_required"] and subject.amount > limit:
                self.large.append(subject)
        if row.ref in self._used:
            self._repeats[row.ref] += 1
            if self._repeats[row.ref] <= REPEATS_CHARGED:
                self._enter(day, row, "closed" if row.ref in self._closed else "again", -UNFOUNDED_EUR, subject)
            return
        self._used.add(row.ref)
        if subject is None:
            self._enter(day, row, "position" if row.kind == "POS" else "unknown", -UNFOUNDED_EUR, None)
            return
        party = next((one for one in PARTIES if one == row.party), None)
        verdict = self._verdict(subject, day, party or "CUSTODIAN", rules)
        if party is None and verdict.effective:
            verdict = Verdict("wrong party")
        harm = min(0.0, verdict.value)
        eur = verdict.value if verdict.effective else harm - UNFOUNDED_EUR
        self._enter(day, row, why(subject, verdict, day), eur, subject)
        if isinstance(subject, Trade):
            trades += [subject] if verdict.effective else []
        else:
            claims += [subject] if verdict.effective or harm else []

    def _verdict(self, subject: Trade | Entitlement, day: int, party: Party, rules: Rules) -> Verdict:
        if isinstance(subject, Trade):
            return judge_trade(subject, day, party, rules)
        return judge_entitlement(subject, day, party, rules, self.production.market)

    # ---- what people look at ----

    def _review(self, day: int, rows: list[Row], rules: Rules, trades: list[Trade], claims: list[Entitlement]) -> None:
        oldest_first = sorted(rows, key=lambda row: _since(self.subject(row)))
        for row in oldest_first[: int(self.production.facts["review_rows"])]:
            subject = self.subject(row)
            value = 0.0
            if subject is not None and row.ref not in self._used:
                party = rules.party(subject.reason) if isinstance(subject, Trade) else "CUSTODIAN"
                verdict = self._verdict(subject, day, party, rules)
                if verdict.effective:
                    value = verdict.value
                    self._used.add(row.ref)
                    if isinstance(subject, Trade):
                        trades.append(subject)
                    else:
                        claims.append(subject)
            self._enter(day, row, "reviewed" if value else "reviewed in vain", value - REVIEW_EUR, subject)

    def _enter(self, day: int, row: Row, why: str, eur: float, subject: Trade | Entitlement | None) -> None:
        self.entries.append(Entry(day, row, why, eur, subject))


def _since(subject: Trade | Entitlement | None) -> int:
    """What an analyst sorts by: the intended date or the pay date; what nobody knows comes last."""
    if subject is None:
        return 10**9
    return subject.isd if isinstance(subject, Trade) else subject.event.pay


def why(subject: Trade | Entitlement, verdict: Verdict, day: int) -> str:
    """The word for why a query was worth something or nothing."""
    if verdict.answer in ("settled", "paid"):
        return "in time"
    if verdict.answer == "wrong party":
        return "party"
    if isinstance(subject, Entitlement):
        if verdict.answer == "no difference":
            return "tax" if subject.line.security.relief_began and not subject.short else "paid as it should be"
        return {"too early": "not paid yet", "already compensated": "compensated"}.get(verdict.answer, "late")
    if subject.failed:
        return "early" if verdict.answer == "too early" else "late"
    if subject.cancelled_on is not None:
        return "cancelled"
    if day < subject.isd:
        return "pending"
    if subject.part_gap:
        return "part"
    if subject.lag:
        return "settles late"
    return "block" if subject.block is not None else "settled"
