"""Deliveries by luck: what the grade gives to somebody who decides by coins, item by item."""

from __future__ import annotations

from collections import defaultdict
from weakref import WeakKeyDictionary

from numpy.random import Generator

from scenarios.fund_recon.grader.actions import Actions, Row
from scenarios.fund_recon.grader.books import Books
from scenarios.fund_recon.grader.replay import outcome_of
from scenarios.fund_recon.world.production import Production
from scenarios.fund_recon.world.rules import PARTIES
from scenarios.kit.world import Outcome, Streams, TaskView

LAST_DAY = 20

#: a task's streams and facts go together, and all draws of a task come with the same streams
_PERIODS: WeakKeyDictionary[Streams, tuple[Production, list[tuple[str, str, int]]]] = WeakKeyDictionary()


def random_delivery(task: TaskView, streams: Streams, rng: Generator) -> Outcome:
    """One delivery drawn decision by decision and judged as a replayed one is.

    It tosses a coin for every item that looks open on its day, and queries it with a party and on a day drawn from
    those after; one delivery in two draws the day from those on which a query is taken.
    """
    if streams not in _PERIODS:
        production = Production(task, streams)
        _PERIODS[streams] = production, _open_items(production)
    production, items = _PERIODS[streams]
    rules = production.rules(production.first_graded)
    low, high = (rules.first, rules.last) if rng.random() < 0.5 else (0, LAST_DAY)
    taken = rng.random(len(items)) < 0.5
    parties = rng.integers(len(PARTIES), size=len(items))
    waits = rng.integers(low, high + 1, size=len(items))
    days: dict[int, list[Row]] = defaultdict(list)
    for index, (kind, ref, since) in enumerate(items):
        if taken[index]:
            days[since + int(waits[index])].append(Row(kind, ref, "CHASE", PARTIES[int(parties[index])]))
    books = Books(production)
    for day in sorted(days):
        if day in production.indices:
            books.enter(day, Actions(tuple(days[day])))
    return outcome_of(production, books)


def _open_items(production: Production) -> list[tuple[str, str, int]]:
    """(kind, ref, day) of what is not confirmed or paid one for one when it is due, as files alone show it."""
    items = []
    for trade in production.trades.values():
        if trade.failed or trade.lag or trade.part_gap or trade.block is not None or trade.cancelled_on is not None:
            items.append(("TRADE", trade.trade_id, trade.isd))
    for one in production.entitlements.values():
        if one.short or one.event.lag or one.line.security.relief_began:
            items.append(("ENT", one.ref, one.event.pay))
    return items
