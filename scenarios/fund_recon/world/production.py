"""What production brings morning by morning, and the truth that only the grader sees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from numpy.random import Generator

from scenarios.fund_recon.world.calendars import DAYS, GRADED, WARM_UP
from scenarios.fund_recon.world.dividends import Entitlement, draw_events
from scenarios.fund_recon.world.files import Printer
from scenarios.fund_recon.world.market import Market, Morning
from scenarios.fund_recon.world.orders import draw_trades
from scenarios.fund_recon.world.rules import Rules, rules_on
from scenarios.fund_recon.world.trades import Trade
from scenarios.fund_recon.world.universe import make_universe
from scenarios.kit.world import Streams, TaskView

LATE_FILES = 3


def make_market(
    streams: Streams,
    name: str,
    days: tuple[int, int],
    groups: Sequence[range],
    facts: Mapping[str, Any],
    change: Callable[[list[Trade]], None] | None = None,
) -> Market:
    """The market of the mornings ``days[0]`` to ``days[1]``, its trades made from the business day before the first.

    ``groups`` are ranges of mornings; the fails that are first queried in each are drawn by themselves. ``change`` may
    alter the trades that were drawn.
    """
    universe = make_universe(streams.rng("universe"), facts)
    intended = [
        range(group.start - int(facts["accept_from_day"]), group.stop - int(facts["accept_from_day"]))
        for group in groups
    ]
    trades = draw_trades(streams.rng(f"{name}:trades"), universe, (days[0] - 1, days[1] - 1), intended, facts)
    if change is not None:
        change(trades)
    paid = [range(group.start - 5, group.stop - 5) for group in groups]
    events = draw_events(streams.rng(f"{name}:events"), universe, trades, days, paid, facts)
    return Market(universe, trades, events, facts)


class Drops:
    """The files of each morning, three of the period a day late. ``rng`` decides which."""

    def __init__(self, market: Market, numbers: list[int], days: Sequence[int], rng: Generator) -> None:
        self._printer = Printer(market, numbers)
        which = ("ngc_moves", "bdl_holdings", "cash")
        at = rng.permutation(len(days) - 2)[:LATE_FILES]
        self._late = {(days[int(index) + 1], name) for index, name in zip(at, which, strict=True)}
        self._held: dict[str, bytes] = {}
        self._market = market

    def of(self, day: int) -> tuple[dict[str, bytes], Morning]:
        now = self._market.morning(day)
        files, self._held = {**self._held, **self._printer.files(now)}, {}
        for name in list(files):
            if any(
                day == late and name.startswith(kind) and DAYS[day].isoformat() in name for late, kind in self._late
            ):
                self._held[name] = files.pop(name)
        return files, now

    def printed(self) -> Iterator[tuple[Trade, str]]:
        """(trade, movement) of everything in the custodians' movements so far; a block's is under each of its trades."""
        yield from self._printer.printed


class Production:
    """October 2026 to warm up, then 130 business days until 7 May 2027. A closed loop: see ``react``."""

    def __init__(self, task: TaskView, streams: Streams) -> None:
        self.facts: Mapping[str, Any] = task.facts
        self.first_graded, self.last_graded = GRADED
        self.indices = range(WARM_UP[0], GRADED[1] + 1)
        groups = [range(WARM_UP[0], GRADED[0]), range(GRADED[0], GRADED[1] + 1)]
        self.market = make_market(streams, "heldout", (WARM_UP[0], GRADED[1]), groups, task.facts)
        numbers = [int(one) for one in streams.rng("heldout:moves").permutation(100_000)]
        self._drops = Drops(self.market, numbers, self.indices, streams.rng("heldout:late"))
        self.trades: dict[str, Trade] = {trade.trade_id: trade for trade in self.market.trades}
        self.entitlements: dict[str, Entitlement] = {
            one.ref: one for event in self.market.events for one in event.entitlements
        }

    def rules(self, day: int) -> Rules:
        """What the desks accept on the morning at this position of ``calendars.DAYS``."""
        return rules_on(DAYS[day], self.facts)

    def drop(self, day: int) -> dict[str, bytes]:
        """File name → content of the drop of a morning; mornings are asked for in order, each once."""
        return self._drops.of(day)[0]

    def react(self, outputs: tuple[int, Iterable[Trade], Iterable[Entitlement]]) -> None:
        """(morning, trades, entitlements) whose query of that morning the right desk took: later drops answer to it.

        A trade settles one to three business days later, a short dividend is paid three to five days later. One that
        Delorme compensates by itself is not, once it is claimed by hand. Nothing of the answers is sent back.
        """
        day, trades, entitlements = outputs
        for trade in trades:
            self.market.fix(trade, day)
        for entitlement in entitlements:
            self.market.claim(entitlement, day)
