"""What the engine that is running today would have queried, morning by morning, for the history of queries.

Its rules again, on the market instead of its files. Analysts send a few queries by hand besides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from scenarios.fund_recon.world.desk import Verdict, judge_entitlement, judge_trade
from scenarios.fund_recon.world.market import Market, Morning
from scenarios.fund_recon.world.rules import PARTIES, Party, Rules
from scenarios.fund_recon.world.trades import Trade
from scenarios.fund_recon.world.universe import NGC_EQUITY, WITHHOLDING

DAYS_TO_STAY = 3
TOLERANCE = 1.0
#: of nine overdue trades outside Northgate's equities: on which day after the intended date an analyst asks by hand
_BY_HAND = {0: 1, 1: 2, 2: 3, 3: 3, 4: 3}


@dataclass(frozen=True, slots=True)
class Sent:
    day: int
    ref: str
    party: Party
    verdict: Verdict


class EngineOfToday:
    """Holdings compare and dividend check as found, with the market answering to what they query."""

    def __init__(self, market: Market) -> None:
        self._market = market
        self._stays: dict[int, tuple[int, int, bool]] = {}  #: line → sign, mornings, queried
        self._by_line: dict[int, list[Trade]] = defaultdict(list)
        self._received: dict[str, float] = defaultdict(float)
        self._sent: set[str] = set()

    def queries(self, now: Morning, rules: Rules) -> Iterator[Sent]:
        """The queries of a morning; those that help are acted upon."""
        market, day = self._market, now.day
        for trade in list(market.overdue.values()):
            yield from self._by_hand(trade, day, rules)
        for booking in now.bookings:
            if booking.status == "NEW":
                self._by_line[booking.trade.line.number].append(booking.trade)
        for line, difference in self._ripe(day):
            of_size = self._of_size(line, abs(difference))
            if of_size is None:
                position = market.universe.lines[line]
                yield from self._send(
                    day, f"{position.account}:{position.security.isin}", "CUSTODIAN", Verdict("no difference")
                )
            else:
                yield from self._send_trade(of_size, day, "CUSTODIAN", rules)
        for paid in now.payments:
            self._received[paid.entitlement.ref] += paid.net
        for owed in now.owed:
            rate = WITHHOLDING.get(owed.line.security.country, (0, 0))[0] / 100_000
            expected = owed.entitled * owed.event.rate * (1 - rate)
            if abs(expected - self._received[owed.ref]) > TOLERANCE and owed.ref not in self._sent:
                verdict = judge_entitlement(owed, day, "CUSTODIAN", rules, market)
                if verdict.effective or verdict.answer == "already compensated":
                    market.claim(owed, day)
                yield from self._send(day, owed.ref, "CUSTODIAN", verdict)

    def _by_hand(self, trade: Trade, day: int, rules: Rules) -> Iterator[Sent]:
        if trade.line.kind != NGC_EQUITY and _BY_HAND.get(trade.number % 9) == day - trade.isd and trade.block is None:
            yield from self._send_trade(trade, day, PARTIES[trade.number // 9 % 3], rules)

    def _send_trade(self, trade: Trade, day: int, party: Party, rules: Rules) -> Iterator[Sent]:
        if trade.trade_id in self._sent:
            return
        verdict = judge_trade(trade, day, party, rules)
        if verdict.effective:
            self._market.fix(trade, day)
        yield from self._send(day, trade.trade_id, party, verdict)

    def _send(self, day: int, ref: str, party: Party, verdict: Verdict) -> Iterator[Sent]:
        if ref not in self._sent:
            self._sent.add(ref)
            yield Sent(day, ref, party, verdict)

    def _ripe(self, day: int) -> list[tuple[int, int]]:
        market = self._market
        expected = list(market.traded)
        for trades in self._by_line.values():
            for trade in trades:
                if trade.isd >= day and (trade.cancelled_on is None or trade.cancelled_on >= day):
                    expected[trade.line.number] -= trade.side * (
                        trade.qty if trade.amended_on is None or trade.amended_on < day else trade.first_qty
                    )
        ripe: list[tuple[int, int]] = []
        stays: dict[int, tuple[int, int, bool]] = {}
        reported = market.reported(day)
        for line in market.universe.lines:
            difference = market.as_reported(line, reported[line.number], day) - expected[line.number]
            if not difference:
                continue
            sign = 1 if difference > 0 else -1
            before, mornings, queried = self._stays.get(line.number, (0, 0, False))
            mornings, queried = (mornings + 1, queried) if before == sign else (1, False)
            if mornings >= DAYS_TO_STAY and not queried:
                ripe.append((line.number, difference))
                queried = True
            stays[line.number] = sign, mornings, queried
        self._stays = stays
        return ripe

    def _of_size(self, line: int, size: int) -> Trade | None:
        known = [trade for trade in self._by_line[line] if trade.qty == size and trade.cancelled_on is None]
        return min(known, key=lambda trade: (trade.isd, trade.trade_id), default=None)
