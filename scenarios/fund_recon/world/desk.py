"""What a query is worth, and what is answered to it: one judgement for the history and for production."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scenarios.fund_recon.world.dividends import Entitlement
from scenarios.fund_recon.world.market import Market, compensated
from scenarios.fund_recon.world.rules import LAST_PAYMENT_DAY, Party, Rules
from scenarios.fund_recon.world.trades import Trade

Answer = Literal["settled", "paid", "no difference", "wrong party", "too early", "already compensated", "no answer"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``value`` is the EUR avoided, negative where a query does harm; the charge for an unfounded one is not in it."""

    answer: Answer
    value: float = 0.0

    @property
    def effective(self) -> bool:
        return self.answer in ("settled", "paid")


def judge_trade(trade: Trade, day: int, party: Party, rules: Rules) -> Verdict:
    """A query on a trade, sent on the morning of ``day``; what the night brought has come before it."""
    after = day - trade.isd
    if after < rules.first:
        return Verdict("too early")
    if not trade.failed or not trade.open_on(day):
        return Verdict("no answer" if trade.failed else "no difference")
    if after > rules.last:
        return Verdict("no answer")
    if party != rules.party(trade.reason):
        return Verdict("wrong party")
    return Verdict("settled", trade.loss * rules.value_share(after))


def judge_entitlement(entitlement: Entitlement, day: int, party: Party, rules: Rules, market: Market) -> Verdict:
    """A query on a fund's line in an event. What has not come at all is not late before the lag is over."""
    event = entitlement.event
    after = day - event.pay
    if after < 1 or (event.lag >= after and after <= rules.pay_lag):
        return Verdict("too early")
    if not entitlement.short:
        return Verdict("no difference")
    if compensated(entitlement, market.facts):
        if after > entitlement.own_days:
            return Verdict("no difference")
        return Verdict("already compensated", -entitlement.value)
    if after > LAST_PAYMENT_DAY:
        return Verdict("no answer")
    return Verdict("paid", entitlement.value) if party == "CUSTODIAN" else Verdict("wrong party")
