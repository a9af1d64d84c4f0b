"""Draws a period's trades: who buys what when, which of them settle late or fail, and what each fail would cost.

Kinds of story are drawn in exact shares within each kind of account, and fails one in every so many trades ordered by
amount, so that luck does not carry one period above another.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.random import Generator

from scenarios.fund_recon.world.calendars import DAYS
from scenarios.fund_recon.world.strata import ORDERED_REASONS, cycle_of, one_in_each, share_of
from scenarios.fund_recon.world.trades import PRINTS, Block, Trade
from scenarios.fund_recon.world.universe import (
    BDL_BOND,
    KIND_SHARES,
    KINDS,
    NGC_EQUITY,
    Line,
    Universe,
    amount_of,
    quantity,
)

TRADES_A_DAY = 55
BROKERS = ("HALD", "MERC", "OSTR", "PELH", "QUAY", "STAV", "TIDE", "VAUB")
BLOCK_SHARE, PART_SHARE, LONG_SHARE, LATE_SHARE, FAIL_SHARE = 0.22, 0.09, 0.10, 0.05, 0.035
FAILS_IN_BLOCKS = 0.18  #: share of the fails that are allocations of a block
TWIN_SHARE, CANCEL_SHARE, AMEND_SHARE = 0.012, 0.0075, 0.0075
BLANK_SHARE, DOUBLED_SHARE = 0.12, 0.01
ALONE_OF_20 = 4  #: fails of Northgate equities that no other trade of the line covers, of twenty that are not in blocks
BUSY_BOND_SHARE = 0.85  #: of the bond trades at Delorme that fall on the first three fifths of its lines
MEDIAN_AMOUNT, SPREAD = math.log(180_000), 0.9


def draw_trades(
    rng: Generator, universe: Universe, days: tuple[int, int], groups: Sequence[range], facts: Mapping[str, Any]
) -> list[Trade]:
    """Trades of the trade days ``days[0]`` to ``days[1]``, in order.

    ``groups`` are ranges of intended dates; within each the fails are spread over the trades' amounts by themselves.
    """
    trades = _orders(rng, universe, days)
    for kind in range(len(KINDS)):
        _stories(rng, [trade for trade in trades if trade.line.kind == kind], groups)
    _separate_fails(rng, trades, universe)
    _cover_fails(rng, [trade for trade in trades if trade.line.kind == NGC_EQUITY], universe)
    _finish(rng, trades, universe)
    for kind in range(len(KINDS)):
        for group in groups:
            _losses(rng, [one for one in trades if one.line.kind == kind and one.failed and one.isd in group])
    for trade in trades:
        trade.plan_legs()
    return trades


class _Decks:
    """Lines in an order in which none comes up again soon."""

    def __init__(self, rng: Generator, universe: Universe) -> None:
        self._rng = rng
        self._decks: list[list[Line]] = []
        for kind in range(len(KINDS)):
            lines = universe.of_kind(kind)
            self._decks.append([lines[int(index)] for index in rng.permutation(len(lines))])
        bonds = self._decks[BDL_BOND]
        amortising = sorted(bonds, key=lambda line: (not line.security.amortising, line.security.isin, line.number))
        cut = len(amortising) * 3 // 5
        self._busy, self._quiet = amortising[:cut], amortising[cut:]
        for deck in (self._busy, self._quiet):
            deck[:] = [deck[int(index)] for index in rng.permutation(len(deck))]

    def next(self, kind: int) -> Line:
        deck = self._decks[kind]
        if kind == BDL_BOND:
            deck = self._busy if self._rng.random() < BUSY_BOND_SHARE else self._quiet
        line = deck.pop(int(self._rng.integers(len(deck) // 3)))
        deck.append(line)
        return line

    def used(self, line: Line) -> None:
        for deck in (self._busy, self._quiet) if line.kind == BDL_BOND else (self._decks[line.kind],):
            if line in deck:
                deck.remove(line)
                deck.append(line)


def _orders(rng: Generator, universe: Universe, days: tuple[int, int]) -> list[Trade]:
    trades: list[Trade] = []
    decks = _Decks(rng, universe)
    start_block = BLOCK_SHARE / 2.8 / (BLOCK_SHARE / 2.8 + 1 - BLOCK_SHARE)
    made = [_spread(rng, days, share) for share in KIND_SHARES]
    for day in range(days[0], days[1] + 1):
        for kind in range(len(KINDS)):
            left = made[kind].get(day, 0)
            while left > 0:
                line = decks.next(kind)
                holders = universe.by_isin[line.security.isin]
                whole = left > 1 and len(holders) > 1 and rng.random() < start_block
                lines = holders[: min(left, len(holders))] if whole else [line]
                block = Block() if len(lines) > 1 else None
                side = 1 if rng.random() < 0.5 else -1
                for one in lines:
                    target = min(max(float(rng.lognormal(MEDIAN_AMOUNT, SPREAD)), 5_000.0), 3_000_000.0)
                    trade = Trade(len(trades), one, day, side, target, block)
                    trades.append(trade)
                    if block is not None:
                        block.trades.append(trade)
                        decks.used(one)
                left -= len(lines)
                if block is None and left and rng.random() < TWIN_SHARE:
                    twin = Trade(len(trades), line, day, side, target, twin=trades[-1], cycle=4)
                    trades.append(twin)
                    left -= 1
    return trades


def _spread(rng: Generator, days: tuple[int, int], share: float) -> Counter[int]:
    """Day → number of trades of a kind: as many in the whole period whatever the seed, at random over its days."""
    length = days[1] - days[0] + 1
    return Counter(int(day) for day in rng.integers(days[0], days[1] + 1, round(TRADES_A_DAY * share * length)))


def _units(trades: Sequence[Trade]) -> list[list[Trade]]:
    """Trades by themselves, and blocks as a whole; twins are left out."""
    older = {trade.twin.number for trade in trades if trade.twin is not None}
    units: dict[int, list[Trade]] = {}
    for trade in trades:
        if trade.twin is None and trade.number not in older:
            key = trade.block.trades[0].number if trade.block is not None else trade.number
            units.setdefault(key, []).append(trade)
    return list(units.values())


def _stories(rng: Generator, trades: list[Trade], groups: Sequence[range]) -> None:
    units = _units(trades)
    for unit in share_of(rng, units, LONG_SHARE):
        cycle = int(rng.integers(5, 8))
        for trade in unit:
            trade.cycle = cycle
    for trade in trades:
        trade.isd = trade.usual_isd()
    for group in groups:
        _fails(rng, [trade for trade in trades if trade.isd in group])
    settling = [unit for unit in _units(trades) if not unit[0].failed]
    lags = cycle_of(rng, (1, 2))
    for unit in share_of(rng, settling, LATE_SHARE * len(units) / max(1, len(settling))):
        lag, reason = next(lags), ORDERED_REASONS[int(rng.integers(20))]
        for trade in unit:
            trade.story, trade.lag, trade.reason, trade.first_reason = "late", lag, reason, reason
    ordinary = [unit[0] for unit in settling if len(unit) == 1 and unit[0].block is None and not unit[0].lag]
    gaps = cycle_of(rng, (1,) * 30 + (2,) * 19 + (3,))
    chosen = share_of(rng, ordinary, (PART_SHARE * len(trades) + 1e-9) / max(1, len(ordinary)))
    for trade in chosen:
        trade.part_gap, trade.first_share = next(gaps), int(rng.integers(250, 750))
        trade.reason = trade.first_reason = ORDERED_REASONS[int(rng.integers(20))]
    parted = {trade.number for trade in chosen}
    _change(rng, [trade for trade in ordinary if trade.number not in parted], len(trades))


def _change(rng: Generator, ordinary: list[Trade], count: int) -> None:
    """Trades that are cancelled or amended the day after they were made."""
    changed = share_of(rng, ordinary, (CANCEL_SHARE + AMEND_SHARE) * count / max(1, len(ordinary)))
    for index, trade in enumerate(changed):
        if trade.isd <= trade.traded + 1:
            continue
        if index % 2:
            trade.cancelled_on = trade.traded + 1
        else:
            trade.amended_on = trade.traded + 1
            trade.first_isd = trade.isd
            if index % 4 == 2:
                trade.cycle = (trade.cycle or 2) + 1
                trade.isd = trade.usual_isd()


def _fails(rng: Generator, trades: list[Trade]) -> None:
    """One fail in every 1/FAIL_SHARE trades ordered by amount; some of them whole blocks."""
    wanted = round(FAIL_SHARE * len(trades))
    blocks = [unit for unit in _units(trades) if unit[0].block is not None and len(unit) == len(unit[0].block.trades)]
    blocks.sort(key=lambda unit: sum(trade.target for trade in unit) / len(unit))
    in_blocks = round(wanted * FAILS_IN_BLOCKS / 2.8)
    failing = [trade for unit in one_in_each(rng, blocks, in_blocks) for trade in unit]
    alike = {number for one in trades if one.twin is not None for number in (one.number, one.twin.number)}
    singles = [trade for trade in trades if trade.block is None and trade.number not in alike]
    singles.sort(key=lambda one: (one.target, one.number))
    failing += one_in_each(rng, singles, wanted - len(failing))
    reasons, fixes = cycle_of(rng, ORDERED_REASONS), cycle_of(rng, (1, 2, 3))
    words: dict[int, tuple[str, bool]] = {}
    for index, trade in enumerate(failing):
        key = trade.block.trades[0].number if trade.block is not None else trade.number
        if key not in words:
            words[key] = next(reasons), rng.random() < 0.15
        trade.story, trade.fix_days = "fails", next(fixes)
        trade.reason, changes = words[key]
        trade.first_reason = "NMAT" if changes else trade.reason
        trade.silent = trade.reason == "NMAT" and trade.block is None and index % 8 == 0
        trade.partial_fail = trade.block is None and not trade.silent and index % 60 == 7
        trade.first_share = int(rng.integers(250, 750))


def _losses(rng: Generator, fails: list[Trade]) -> None:
    """Loss rates of 0.4 to 1.4 per cent of the amount, in pairs of neighbouring amounts that add up."""
    rate = 0.0
    for index, trade in enumerate(sorted(fails, key=lambda one: (one.amount, one.number))):
        rate = 0.018 - rate if index % 2 else int(rng.integers(400, 1_401)) / 100_000
        trade.loss = round(trade.amount * rate, 2)


# ---- lines that show a fail, and lines on which other trades hide it ----


def _separate_fails(rng: Generator, trades: Sequence[Trade], universe: Universe) -> None:
    """No two fails at a time in one line, nor a late trade beside one: what can be moved goes to another line."""
    open_days: dict[int, list[tuple[int, int]]] = defaultdict(list)

    def is_free(line: Line, first: int, last: int) -> bool:
        return all(last < start or first > end for start, end in open_days[line.number])

    def clear(trade: Trade, first: int, last: int) -> None:
        if trade.block is None and trade.twin is None and not is_free(trade.line, first, last):
            _move(rng, trade, universe, lambda line: is_free(line, first, last))

    fails = sorted((one for one in trades if one.failed), key=lambda one: (one.block is None, one.isd, one.number))
    for trade in fails:
        clear(trade, trade.isd - 4, trade.isd + 25)
        open_days[trade.line.number].append((trade.isd - 4, trade.isd + 25))
    older = {trade.twin.number for trade in trades if trade.twin is not None}
    for trade in trades:
        if (trade.lag or trade.part_gap) and trade.number not in older:
            clear(trade, trade.isd, trade.isd + 4)


def _move(rng: Generator, trade: Trade, universe: Universe, fits: Any) -> None:
    lines = universe.of_kind(trade.line.kind)
    same = [line for line in lines if (line.security.country == "US") == (trade.line.security.country == "US")]
    for index in rng.permutation(len(same)):
        if fits(same[int(index)]):
            trade.line = same[int(index)]
            trade.isd = trade.usual_isd()
            return


def _cover_fails(rng: Generator, trades: list[Trade], universe: Universe) -> None:
    """Put another pending trade, of the other side, on the line of most fails while they become three days old."""
    by_line: dict[int, list[Trade]] = defaultdict(list)
    free: dict[int, list[Trade]] = defaultdict(list)
    older = {trade.twin.number for trade in trades if trade.twin is not None}
    for trade in trades:
        by_line[trade.line.number].append(trade)
        plain = trade.story == "settles" and not trade.cycle and trade.amended_on is None and trade.cancelled_on is None
        if plain and trade.block is None and trade.twin is None and trade.number not in older:
            free[trade.traded].append(trade)
    alone = cycle_of(rng, (True,) * ALONE_OF_20 + (False,) * (20 - ALONE_OF_20))
    for fail in [trade for trade in trades if trade.failed and trade.block is None]:
        for other in list(by_line[fail.line.number]):
            overlaps = other.traded + 1 <= fail.isd + 3 and other.isd >= fail.isd + 1
            if other is not fail and overlaps and other in free[other.traded]:
                by_line[fail.line.number].remove(other)
                quiet = other.traded
                _move(rng, other, universe, lambda line, day=quiet: _is_quiet(by_line[line.number], day))
                by_line[other.line.number].append(other)
        if not next(alone):
            others = [one for one in free[fail.isd + 2] if not any(two.failed for two in by_line[one.line.number])]
            if others:
                cover = others[int(rng.integers(len(others)))]
                by_line[cover.line.number].remove(cover)
                cover.line, cover.side = fail.line, -fail.side
                cover.isd = cover.usual_isd()
                by_line[cover.line.number].append(cover)
                free[cover.traded].remove(cover)


def _is_quiet(trades: Sequence[Trade], day: int) -> bool:
    return not any(trade.failed or abs(trade.traded - day) < 7 for trade in trades)


# ---- numbers ----


def _finish(rng: Generator, trades: Sequence[Trade], universe: Universe) -> None:
    held = list(universe.opening)
    ids = _identifiers(rng, trades)
    brokers = rng.integers(len(BROKERS), size=len(trades))
    blank = rng.random((len(trades), PRINTS)) < BLANK_SHARE
    noise = rng.integers(-2, 3, size=(len(trades), PRINTS))
    doubled = rng.random(len(trades)) < DOUBLED_SHARE
    moved = rng.integers(-60, 61, size=len(trades))
    older = {trade.twin.number for trade in trades if trade.twin is not None}
    for trade in trades:
        security = trade.line.security
        first = trade.block.trades[0] if trade.block is not None else trade.twin or trade
        trade.trade_id, trade.broker = ids[trade.number], BROKERS[int(brokers[first.number])]
        trade.price = round(security.price * (1 + int(moved[first.number]) / 10_000), 4)
        trade.qty = quantity(security, trade.target) if trade.twin is None else trade.twin.qty
        if trade.side < 0 and trade.qty > held[trade.line.number] * 0.6 and trade.block is None and trade.twin is None:
            trade.side = 1
        held[trade.line.number] += trade.signed
        trade.amount = round(trade.qty * trade.price / (100 if security.is_bond else 1), 2)
        trade.first_qty, trade.first_isd = trade.qty, trade.first_isd or trade.isd
        if trade.amended_on is not None and trade.first_isd == trade.isd:
            trade.first_qty = quantity(security, trade.target * 1.2)
        marks = [bool(one) for one in blank[trade.number]]
        if trade.twin is not None:
            marks = [False] * PRINTS
        elif trade.number in older and not trade.failed:
            marks = [True] * PRINTS
        trade.blank = tuple(marks)
        trade.noise = tuple(int(one) for one in noise[trade.number])
        trade.doubled = bool(doubled[trade.number])


def _identifiers(rng: Generator, trades: Sequence[Trade]) -> list[str]:
    """Numbers behind the month are in no order. Blocks get theirs here too."""
    numbers = rng.permutation(90_000)
    blocks = rng.permutation(9_000)
    used = 0
    for trade in trades:
        if trade.block is not None and not trade.block.block_id:
            trade.block.block_id = f"BK{DAYS[trade.isd]:%y%m}-{int(blocks[used]) + 1_000:04d}"
            used += 1
    return [f"T{DAYS[trade.isd]:%y%m}-{int(numbers[trade.number]) + 10_000}" for trade in trades]


def price_of(trade: Trade, units: int) -> float:
    """EUR of ``units`` of the trade at its own price."""
    return round(trade.amount * units / trade.qty, 2) if trade.qty else amount_of(trade.line.security, units)
