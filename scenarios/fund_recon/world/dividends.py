"""Dividends: announced, due on what the book holds, paid on what the custodian holds."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

from numpy.random import Generator

from scenarios.fund_recon.world.calendars import DAYS
from scenarios.fund_recon.world.strata import cycle_of, one_in_each
from scenarios.fund_recon.world.trades import Trade
from scenarios.fund_recon.world.universe import BDL_EQUITY, NGC_EQUITY, WITHHOLDING, Line, Security, Universe

LINES_A_DAY = 18
SHORT_SHARE = 0.022
NORTHGATE_SHORTS = 0.62
SHORT_MEDIAN, SHORT_SPREAD = math.log(1_900), 0.8
LAST_DAYS_OF_LAG = (2, 3, 4)
#: what an event's line is like, of fifty: relief began in its country, it is paid late, or neither
_CATEGORIES = ("relief",) * 12 + ("late",) * 8 + ("plain",) * 30
_CUSTODIANS = (NGC_EQUITY,) * 31 + (BDL_EQUITY,) * 19
_COMPENSATION: Mapping[int, tuple[str, ...]] = {
    NGC_EQUITY: ("AUTO",) * 8 + ("MAN",) * 6 + ("",) * 6,
    BDL_EQUITY: ("AUTO",) * 18 + ("MAN",) * 2,
}


@dataclass(slots=True, eq=False)
class Entitlement:
    """A fund's line in an event. ``missing`` is the quantity on which the custodian does not pay on the pay date."""

    event: Event
    line: Line
    missing: int = 0
    value: float = 0.0  #: EUR net that is short
    fix_days: int = 3  #: business days from an effective query to the payment
    own_days: int = 6  #: business days from the pay date until Delorme compensates it by itself
    entitled: int = 0  #: what the book held before the ex date; written when the day comes

    @property
    def ref(self) -> str:
        return f"{self.event.event_id}:{self.line.fund}"

    @property
    def short(self) -> bool:
        return self.value > 0


@dataclass(slots=True, eq=False)
class Event:
    """Days are positions in ``calendars.DAYS``; ``rate`` is EUR gross a share."""

    security: Security
    ex: int
    record: int
    pay: int
    rate: float
    comp: str
    lag: int = 0  #: business days after the pay date on which it is paid
    event_id: str = ""
    entitlements: list[Entitlement] = field(default_factory=list)

    @property
    def announced(self) -> int:
        return self.ex - 3


def withholding(country: str, facts: Mapping[str, Any]) -> float:
    """The rate that is withheld in 2026 and 2027."""
    return WITHHOLDING.get(country, (0, 0))[bool(facts["relief_at_source"])] / 100_000


def draw_events(
    rng: Generator,
    universe: Universe,
    trades: Sequence[Trade],
    days: tuple[int, int],
    groups: Sequence[range],
    facts: Mapping[str, Any],
) -> list[Event]:
    """Events with ex dates from the fourth of ``days`` and pay dates until the last; short ones by ranges of pay dates."""
    unquiet = _unquiet(trades)
    events: list[Event] = []
    booked: dict[str, list[int]] = defaultdict(list)
    for group in groups:
        events += _short_events(rng, universe, trades, group, unquiet, booked, facts)
    short_lines = [0] * len(DAYS)
    for event in events:
        short_lines[event.pay] += len(event.entitlements)
    events += _other_events(rng, universe, days, short_lines, unquiet, booked, facts)
    events.sort(key=lambda event: (event.announced, event.ex, event.security.isin))
    numbers = rng.permutation(9_000)
    for number, event in zip(numbers, events, strict=False):
        event.event_id = f"DV-{int(number) + 1_000}"
    return events


def _unquiet(trades: Sequence[Trade]) -> dict[str, list[tuple[int, int, int]]]:
    """ISIN → (first day, last day, trade number) around which book and custodian may disagree about it."""
    found: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
    for trade in trades:
        odd = trade.cycle or trade.lag or trade.part_gap or trade.failed or trade.twin
        if odd or trade.cancelled_on is not None or trade.amended_on is not None:
            last = trade.isd + 26 if trade.failed else max([trade.isd, *(leg.day for leg in trade.legs)])
            found[trade.line.security.isin].append((trade.traded, last, trade.number))
    return found


def _quiet(spans: Sequence[tuple[int, int, int]], ex: int, record: int, but: int = -1) -> bool:
    return not any(first <= record and last >= ex - 1 and number != but for first, last, number in spans)


def _free(booked: list[int], ex: int) -> bool:
    at = bisect_left(booked, ex)
    return all(abs(other - ex) > 15 for other in booked[max(0, at - 1) : at + 1])


def _book(booked: list[int], ex: int) -> None:
    booked.insert(bisect_left(booked, ex), ex)


def _short_events(
    rng: Generator,
    universe: Universe,
    trades: Sequence[Trade],
    group: range,
    unquiet: Mapping[str, Sequence[tuple[int, int, int]]],
    booked: dict[str, list[int]],
    facts: Mapping[str, Any],
) -> list[Event]:
    """Events around purchases that were made cum dividend and settled late, after the record date."""
    wanted = round(SHORT_SHARE * LINES_A_DAY * len(group))
    events: list[Event] = []
    for kind, count in ((NGC_EQUITY, round(wanted * NORTHGATE_SHORTS)), (BDL_EQUITY, None)):
        number = wanted - len(events) if count is None else count
        candidates = []
        for trade in trades:
            late_purchase = trade.line.kind == kind and trade.lag and trade.side > 0 and trade.block is None
            ex = trade.isd if trade.line.security.country == "US" else trade.isd - 1
            if not late_purchase or trade.amended_on is not None or trade.twin is not None or ex <= trade.traded:
                continue
            pay = trade.isd + 7 + trade.number % 8
            if pay in group and _quiet(unquiet[trade.line.security.isin], ex, trade.isd, trade.number):
                candidates.append((trade.amount, trade.number, trade, ex, pay))
        candidates.sort(key=lambda one: one[:2])
        comps, owns = cycle_of(rng, _COMPENSATION[kind]), cycle_of(rng, (6, 7, 8, 9, 10))
        values = _values(rng, number)
        taken = one_in_each(rng, candidates, number)
        for value, (_, _, trade, ex, pay) in zip(values, taken, strict=False):
            security = trade.line.security
            if not _free(booked[security.isin], ex):
                continue
            _book(booked[security.isin], ex)
            kept = 1 - withholding(security.country, facts)
            rate = max(0.0001, round(value / trade.qty / kept, 4))
            event = Event(security, ex, trade.isd, pay, rate, next(comps))
            for line in universe.by_isin[security.isin]:
                entitlement = Entitlement(event, line, own_days=next(owns), fix_days=3 + trade.number % 3)
                if line is trade.line:
                    entitlement.missing = trade.qty
                    entitlement.value = round(round(trade.qty * rate, 2) * kept, 2)
                event.entitlements.append(entitlement)
            events.append(event)
    return events


def _values(rng: Generator, count: int) -> list[float]:
    """EUR net, ascending: one out of each of ``count`` equal parts of the distribution."""
    normal = NormalDist()
    values = []
    for index in range(count):
        share = (index + 0.2 + int(rng.integers(0, 61)) / 100) / count
        values.append(round(math.exp(SHORT_MEDIAN + SHORT_SPREAD * normal.inv_cdf(share)), 0))
    return values


def _other_events(
    rng: Generator,
    universe: Universe,
    days: tuple[int, int],
    short_lines: Sequence[int],
    unquiet: Mapping[str, Sequence[tuple[int, int, int]]],
    booked: dict[str, list[int]],
    facts: Mapping[str, Any],
) -> list[Event]:
    pools: dict[tuple[int, bool], list[Security]] = defaultdict(list)
    for security in universe.securities:
        if security.kind in (NGC_EQUITY, BDL_EQUITY):
            pools[security.kind, security.relief_began].append(security)
    categories, kinds = cycle_of(rng, _CATEGORIES), cycle_of(rng, _CUSTODIANS)
    lags = cycle_of(rng, LAST_DAYS_OF_LAG)
    comps = {kind: cycle_of(rng, cards) for kind, cards in _COMPENSATION.items()}
    events: list[Event] = []
    need = 0
    for pay in range(days[0], days[1] + 1):
        need += LINES_A_DAY - short_lines[pay]
        while need > 0:
            category, kind = next(categories), next(kinds)
            pool = pools[kind, category == "relief"]
            event = _ordinary(rng, pool, pay, days[0], unquiet, booked, next(comps[kind]))
            need -= 3
            if event is None:
                continue
            need -= len(universe.by_isin[event.security.isin]) - 3
            if category == "late" and facts["pay_lag_days"]:
                event.lag = next(lags)
            event.entitlements = [Entitlement(event, line) for line in universe.by_isin[event.security.isin]]
            events.append(event)
    return events


def _ordinary(
    rng: Generator,
    pool: Sequence[Security],
    pay: int,
    first: int,
    unquiet: Mapping[str, Sequence[tuple[int, int, int]]],
    booked: dict[str, list[int]],
    comp: str,
) -> Event | None:
    for _ in range(40):
        security = pool[int(rng.integers(len(pool)))]
        record = pay - int(rng.integers(6, 13))
        ex = record if security.country == "US" else record - 1
        if ex - 3 < first:
            return None
        if _free(booked[security.isin], ex) and _quiet(unquiet.get(security.isin, ()), ex, record):
            _book(booked[security.isin], ex)
            rate = round(security.price * int(rng.integers(50, 260)) / 10_000, 4)
            return Event(security, ex, record, pay, rate, comp)
    return None
