"""Makes the tables that are shown as long on every task, by what happens in the house and at the custodians.

A fail that somebody queries in time settles instead of being cancelled: one row less in the book, one more in the
custodian's movements. Where the compare finds more fails, files would tell the task by their length. So as many more
trades are called off the morning after they were made, which weighs the other way. What luck with blocks and parts has
left over goes into rows that are printed twice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from numpy.random import Generator

from scenarios.fund_recon.world.calendars import Custodian
from scenarios.fund_recon.world.trades import Trade

Table = Literal["book_trades", "ngc_moves", "bdl_moves"]
#: rows of the tables in the six months that are shown, headings included
LENGTHS: Mapping[Table, int] = {"book_trades": 7_375, "ngc_moves": 5_450, "bdl_moves": 4_070}
_MOVES: Mapping[Custodian, Table] = {"NGC": "ngc_moves", "BDL": "bdl_moves"}
_LEFT = 0.5  #: share of what was drawn that stays, of trades called off and of rows printed twice
_QUIET_DAYS = 7  #: no trade is called off so near to a fail in its line: the other trade may be what hides it


class Lengths:
    """Counts the rows of the files of each morning."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = defaultdict(int)

    def add(self, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            self._rows[name.rpartition("_")[0]] += content.count(b"\n")

    def missing(self, table: Table) -> int:
        """Rows that a table lacks; below zero, rows that it has too many."""
        return LENGTHS[table] - self._rows[table]


def level(rng: Generator, trades: Sequence[Trade], lengths: Lengths) -> None:
    """Change trades of a period so that its tables become ``LENGTHS`` long, nearly; ``lengths`` are those without it."""
    lacking = {house: lengths.missing(table) for house, table in _MOVES.items()}
    # A trade printed twice adds a row to both; one called off adds one to the book and takes its settlement away.
    twice = (lengths.missing("book_trades") + sum(lacking.values())) // 2
    quiet = _beside_no_fail(trades)
    for house, missing in lacking.items():
        own = [trade for trade in trades if trade.line.custodian == house]
        doubled = round(twice * len(own) / len(trades))
        _print_twice(rng, own, doubled)
        _call_off(rng, [trade for trade in own if trade.number in quiet], doubled - missing)


def _print_twice(rng: Generator, trades: Sequence[Trade], more: int) -> None:
    settling = [one for one in trades if one.story == "settles" and one.block is None and one.twin is None]
    plain = [one for one in settling if not one.part_gap and one.cancelled_on is None]
    for trade in _some(rng, [one for one in plain if one.doubled != (more > 0)], more):
        trade.doubled = more > 0


def _call_off(rng: Generator, trades: Sequence[Trade], more: int) -> None:
    if more > 0:
        for trade in _some(rng, [one for one in trades if _can_be_called_off(one)], more):
            trade.cancelled_on = trade.traded + 1
            trade.plan_legs()
        return
    for trade in _some(rng, [one for one in trades if one.cancelled_on is not None], more):
        trade.cancelled_on = None
        trade.plan_legs()


def _can_be_called_off(trade: Trade) -> bool:
    changed = trade.cancelled_on is not None or trade.amended_on is not None
    plain = trade.story == "settles" and not (trade.part_gap or trade.cycle or trade.doubled or changed)
    return plain and trade.block is None and trade.isd > trade.traded + 1


def _beside_no_fail(trades: Sequence[Trade]) -> set[int]:
    """Numbers of the trades that are neither near a fail in their line nor one of two of a size."""
    fails: dict[int, list[int]] = defaultdict(list)
    for trade in trades:
        if trade.failed:
            fails[trade.line.number].append(trade.isd)
    alike = {number for one in trades if one.twin is not None for number in (one.number, one.twin.number)}
    return {
        one.number
        for one in trades
        if one.number not in alike and all(abs(one.isd - isd) > _QUIET_DAYS for isd in fails[one.line.number])
    }


def _some(rng: Generator, trades: list[Trade], more: int) -> list[Trade]:
    """``more`` of the trades; below zero, as many of them, but never so many that less than ``_LEFT`` stay."""
    count = min(more, len(trades)) if more > 0 else min(-more, round(len(trades) * (1 - _LEFT)))
    return [trades[int(index)] for index in sorted(rng.permutation(len(trades))[:count])]
