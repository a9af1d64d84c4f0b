"""What the market and the two custodians accept on a day: when a query is taken and who has to act on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

Party = Literal["BROKER", "CUSTODIAN", "INTERNAL"]
PARTIES: tuple[Party, ...] = ("BROKER", "CUSTODIAN", "INTERNAL")
REASONS = ("CLAC", "NMAT", "LACK")

LAST_PAYMENT_DAY = 20  #: business days after pay date in which a short payment can be queried
FALL = 0.85  #: share of the value that is lost between the first accepted day and the day after the last one


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one day. Days are business days after the intended date of a trade or the pay date of an event."""

    first: int
    last: int
    broker: frozenset[str]
    internal: frozenset[str]
    pay_lag: int

    def party(self, reason: str) -> Party:
        """Who has to act on a trade with this reason."""
        if reason in self.broker:
            return "BROKER"
        return "INTERNAL" if reason in self.internal else "CUSTODIAN"

    def value_share(self, after: int) -> float:
        """The share of a fail's loss that a query avoids ``after`` days after the intended date; 0 outside the days."""
        if not self.first <= after <= self.last:
            return 0.0
        return 1.0 - FALL * (after - self.first) / (self.last - self.first + 1)


def rules_on(day: date, facts: Mapping[str, Any]) -> Rules:
    """Before ``rules_from`` the usual ones held: from the third to the twentieth day, each code with its own party."""
    since = str(facts["rules_from"])
    if since and day < date.fromisoformat(since):
        return Rules(3, 20, frozenset({"CLAC"}), frozenset({"LACK"}), int(facts["pay_lag_days"]))
    return Rules(
        int(facts["accept_from_day"]),
        int(facts["accept_to_day"]),
        frozenset(facts["broker_codes"]),
        frozenset(facts["internal_codes"]),
        int(facts["pay_lag_days"]),
    )
