"""The two periods of the scenario, the visible history and production, each as reports and the truth behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from scenarios.kit.world import Streams
from scenarios.oil_npt.world.hires import Hires
from scenarios.oil_npt.world.process import Draft, StopProcess, draw_period
from scenarios.oil_npt.world.quarters import midnight, next_month
from scenarios.oil_npt.world.reports import FIELD_OFFSET, Report, ReportBook, ReportWriter
from scenarios.oil_npt.world.spans import Span
from scenarios.oil_npt.world.stoppages import RIGS, Stoppage
from scenarios.oil_npt.world.timeline import RigState, Timeline

HISTORY = (date(2026, 1, 1), date(2026, 9, 30))  #: report dates that the workspace shows
PRODUCTION = (date(2026, 10, 1), date(2027, 8, 31))  #: report dates of the replay; October is not graded
FIRST_MORNING, LAST_SHOWN_MORNING = date(2026, 1, 2), date(2026, 10, 1)
LAST_MORNING = date(2027, 9, 7)
HISTORY_MOVES, PRODUCTION_MOVES = 6, 7


@dataclass(slots=True)
class Period:
    """What happened and what was written about it. ``states`` and ``tails`` carry on into the next period."""

    books: dict[str, ReportBook]
    drafts: dict[str, list[Draft]]
    states: dict[str, RigState]
    tails: dict[str, list[Span]]
    moves: int

    @property
    def reports(self) -> list[Report]:
        return [report for book in self.books.values() for report in book.reports]

    def stoppages(self) -> list[Stoppage]:
        """All stops in the order of their starts as first reported."""
        found = [stop for book in self.books.values() for stop in book.stoppages()]
        return sorted(found, key=lambda stop: (stop.versions[0].segments[0].start, stop.rig))


def history(streams: Streams, facts: Mapping[str, Any], hires: Hires) -> Period:
    return _period(streams, facts, hires, "history", HISTORY, None)


def production(streams: Streams, facts: Mapping[str, Any], hires: Hires, before: Period) -> Period:
    return _period(streams, facts, hires, "heldout", PRODUCTION, before)


def _period(
    streams: Streams, facts: Mapping[str, Any], hires: Hires, name: str, days: tuple[date, date], before: Period | None
) -> Period:
    process = StopProcess(streams, name, days, facts, hires)
    drafts = draw_period(process, before.drafts if before else {})
    writer = ReportWriter(streams.rng(f"{name}:reports"), facts)
    move_after = _moves(streams, name, days)
    period = Period({}, drafts, {}, {}, 0)
    begin = midnight(days[0]) + (FIELD_OFFSET if before else 0)  # the night before belongs to the period before
    end = midnight(days[1] + timedelta(days=1)) + FIELD_OFFSET
    for rig in RIGS:
        state = before.states[rig].copy() if before else RigState(rig)
        timeline = Timeline(streams.rng(f"{name}:log:{rig}"), state, drafts[rig], (begin, end), move_after.get(rig))
        spans = timeline.run()
        if before:
            spans = before.tails[rig] + spans
        period.books[rig] = writer.write(rig, spans, drafts[rig], days)
        period.states[rig] = timeline.state
        period.tails[rig] = [span for span in spans if span.end > midnight(days[1] + timedelta(days=1))]
        period.moves += timeline.moves
    return period


def _moves(streams: Streams, name: str, days: tuple[date, date]) -> dict[str, int]:
    """Which rigs finish their pad in the period, and from when on they move at the next end of a well."""
    rng = streams.rng(f"{name}:moves")
    count = HISTORY_MOVES if name == "history" else PRODUCTION_MOVES
    first = midnight(next_month(days[0]))
    last = midnight(days[1]) - 85 * 96  # a well takes about fifty days: each of these moves really happens
    return {RIGS[index]: int(rng.integers(first, last)) for index in rng.permutation(len(RIGS))[:count]}
