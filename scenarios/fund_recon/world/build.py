"""Writes what the workspace shows: six months of the files of every morning, the queries sent, and the tax team's table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from scenarios.fund_recon.world.calendars import DAYS, HISTORY, index_from
from scenarios.fund_recon.world.dividends import Entitlement
from scenarios.fund_recon.world.engine import EngineOfToday, Sent
from scenarios.fund_recon.world.files import FOLDERS
from scenarios.fund_recon.world.history import queries_csv
from scenarios.fund_recon.world.level import Lengths, level
from scenarios.fund_recon.world.market import Market, compensated
from scenarios.fund_recon.world.production import Drops, make_market
from scenarios.fund_recon.world.rules import rules_on
from scenarios.fund_recon.world.trades import Trade
from scenarios.fund_recon.world.universe import BDL_BOND, BDL_EQUITY, NGC_EQUITY, WITHHOLDING
from scenarios.kit.tables import csv_bytes
from scenarios.kit.world import BuildResult, Streams, TaskView

EXAMPLE_DAY = date(2026, 9, 14)  #: the intended date of the trade that people are asked about, or soon after
RELIEF_FROM, OTHERS_FROM = "2026-01-01", "2023-01-01"


@dataclass(slots=True)
class _Shown:
    """What was printed, for those who cite it."""

    moves: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))  #: trade number → movements
    trades: list[Trade] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)


def build(task: TaskView, streams: Streams, out: Path) -> BuildResult:
    """Write ``out/data``. See ``scenarios.kit.world`` for what is returned."""
    facts = task.facts
    lengths = Lengths()
    for files in _mornings(_history(streams, facts), streams, facts, _Shown()):
        lengths.add(files)
    market = _history(streams, facts, lambda trades: level(streams.rng("history:level"), trades, lengths))
    shown = _Shown()
    for files in _mornings(market, streams, facts, shown):
        _write(out / "data", files)
    change = min(market.basis_from, index_from(date.fromisoformat(facts["rules_from"] or "2026-06-15")))
    queries, query_ids = queries_csv(streams.rng("history:queries"), shown.sent, change)
    (out / "data" / "queries_history.csv").write_bytes(queries)
    (out / "data" / "tax_relief_2026.csv").write_bytes(_tax_relief())
    return _result(market, shown, query_ids)


def _history(streams: Streams, facts: Mapping[str, Any], change: Callable[[list[Trade]], None] | None = None) -> Market:
    return make_market(streams, "history", HISTORY, [range(HISTORY[0], HISTORY[1] + 1)], facts, change)


def _mornings(
    market: Market, streams: Streams, facts: Mapping[str, Any], shown: _Shown
) -> Iterator[Mapping[str, bytes]]:
    """The files of every morning, with the engine of that time sending its queries; ``shown`` is filled meanwhile."""
    days = range(HISTORY[0], HISTORY[1] + 1)
    numbers = [int(one) for one in streams.rng("history:moves").permutation(100_000)]
    drops = Drops(market, numbers, days, streams.rng("history:late"))
    engine = EngineOfToday(market)
    for day in days:
        files, now = drops.of(day)
        yield files
        shown.sent += engine.queries(now, rules_on(DAYS[day], facts))
        shown.trades += [booking.trade for booking in now.bookings if booking.status == "NEW"]
        shown.events += [event.event_id for event in now.announced]
    for trade, move_id in drops.printed():
        shown.moves[trade.number].append(move_id)


def _write(data: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        folder = next(folder for folder, starts in FOLDERS.items() if name.startswith(starts))
        (data / folder).mkdir(parents=True, exist_ok=True)
        (data / folder / name).write_bytes(content)


def _tax_relief() -> bytes:
    columns = ("country", "statutory", "at_source", "valid_from")
    rows = [
        (country, f"{old / 100_000:g}", f"{new / 100_000:g}", RELIEF_FROM if old != new else OTHERS_FROM)
        for country, (old, new) in sorted(WITHHOLDING.items())
    ]
    return csv_bytes(columns, rows)


# ---- what can be cited ----


def _result(market: Market, shown: _Shown, query_ids: list[str]) -> BuildResult:
    blocks = sorted({trade.block.block_id for trade in shown.trades if trade.block is not None})
    moves = [move for ids in shown.moves.values() for move in ids]
    since = market.basis_from

    def group(trades: Sequence[Trade]) -> dict[str, list[str]]:
        return {
            "trade": [trade.trade_id for trade in trades],
            "move": [move for trade in trades for move in shown.moves[trade.number]],
        }

    in_parts = [trade for trade in shown.trades if trade.block is not None or trade.part_gap or trade.partial_fail]
    return BuildResult(
        facts=_examples(market, shown),
        records={
            "trade": [trade.trade_id for trade in shown.trades],
            "move": moves,
            "block": blocks,
            "event": sorted(set(shown.events)),
            "query": query_ids,
        },
        record_groups={
            "northgate_equity_since_june": group(
                [one for one in shown.trades if one.line.kind == NGC_EQUITY and one.traded >= since]
            ),
            "block_or_part": {**group(in_parts), "block": blocks},
            "delorme_bond_since_june": group(
                [one for one in shown.trades if one.line.kind == BDL_BOND and one.traded >= since]
            ),
        },
    )


def _examples(market: Market, shown: _Shown) -> dict[str, Any]:
    last = HISTORY[1]
    example_day = index_from(EXAMPLE_DAY)
    fails = [
        trade
        for trade in shown.trades
        if trade.line.kind == NGC_EQUITY and trade.failed and trade.block is None and not trade.silent
        and not trade.partial_fail and trade.open_on(last) and trade.isd <= last - 3
    ]  # fmt: skip
    trade = min(fails, key=lambda one: (abs(one.isd - example_day), one.trade_id))
    short = [
        one
        for event in market.events
        for one in event.entitlements
        if one.short and one.line.kind == BDL_EQUITY and event.pay <= last - 12
    ]
    entitlement: Entitlement = max(
        short, key=lambda one: (compensated(one, market.facts), one.event.comp == "AUTO", one.event.pay, one.ref)
    )
    bonds = [
        one
        for one in shown.trades
        if one.line.kind == BDL_BOND and one.traded >= market.basis_from and one.block is None and not one.part_gap
        and one.story == "settles" and one.isd <= last and shown.moves[one.number]
    ]  # fmt: skip
    bond = max(bonds, key=lambda one: (one.line.security.amortising, one.traded, one.trade_id))
    isd = DAYS[trade.isd]
    return {
        "ex_trade": trade.trade_id,
        "ex_trade_isd": f"{isd.day} {isd:%B}",
        "ex_event": entitlement.event.event_id,
        "ex_bond_move": shown.moves[bond.number][-1],
    }
