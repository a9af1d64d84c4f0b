"""Draws the stops of a period: when, of which kind, on what, and how long each part of them takes.

One process for the visible history and for production. Only durations and tags are decided here; how the stops read
in reports is ``timeline``'s and ``reports``'s business.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from scenarios.kit.world import Streams
from scenarios.oil_npt.world.decks import Deck, Durations, chance
from scenarios.oil_npt.world.fleet import (
    CONTRACTOR_SHARES,
    HIRED_TAGS,
    LISTED_TAGS,
    OPERATOR_SHARES,
    RIGS_WITH_THIRD_PUMP,
    contractor_of,
)
from scenarios.oil_npt.world.hires import Hires
from scenarios.oil_npt.world.quarters import day_of, midnight, months_between, next_month, quarters
from scenarios.oil_npt.world.stoppages import RIGS, Kind, Part

#: stops per rig and month: sixteen steps of a Poisson distribution with mean 17, cut to 8–26
STOPS_A_MONTH: Mapping[int, int] = {
    9: 1, 11: 1, 12: 1, 13: 1, 14: 1, 15: 1, 16: 2, 17: 1, 18: 1, 19: 2, 20: 1, 21: 1, 23: 1, 25: 1,
}  # fmt: skip
KIND_SHARES: Mapping[Kind, int] = {"C": 21, "O": 11, "W": 8, "H": 6, "R": 4}
SPACING = quarters(2.0)  #: between the starts of two stops
BREATHER = quarters(0.5)  #: of the interrupted operation between two stops, at least
RECENT_DAYS = 14
UNCLEAR_DAYS = (13.5, 15.0)  #: no failure may recur so that "within fourteen days" hangs on how one counts
#: somebody asks about a stop of Hollin's in July that got no allowance: there must be one
TALLIED_MONTH, TALLIED_RIGS, TALLIED_STOPS = date(2026, 7, 1), ("HD-11", "HD-14"), 18
CODED_ALLOWANCE = quarters(12)  #: what the coding in force leaves unclaimed each month
CONTESTED_RIG, CONTESTED_MONTH, CONTESTED_TAG = "OK-5", date(2026, 8, 1), "SHK"
NEW_TOOL_FROM = date(2026, 8, 1)  #: Hollin and Vantmar report through a new tool from this report date
NEW_TOOL_CONTRACTORS = ("HD", "VM")


@dataclass(slots=True)
class Draft:
    """A stop as drawn. ``parts`` are in order, in quarters; ``miscoded``: the crew books it as repair."""

    rig: str
    kind: Kind
    tag: str
    start: int
    parts: list[tuple[Part, int]]
    miscoded: bool = False

    @property
    def end(self) -> int:
        return self.start + sum(length for _, length in self.parts)

    @property
    def trips(self) -> bool:
        return self.parts[0][0] == "trip_out"


class StopProcess:
    """Draws the stops of the calendar months ``first`` to ``last`` from the streams ``<period>:…``."""

    def __init__(
        self, streams: Streams, period: str, months: tuple[date, date], facts: Mapping[str, Any], hires: Hires
    ) -> None:
        self.months = months_between(*months)
        self._hires = hires
        self._operator_items = bool(facts["operator_items"])
        self._miscodes = bool(facts["crew_miscodes"])
        self._starts_rng = streams.rng(f"{period}:starts")
        rng = streams.rng(f"{period}:stops")
        self._rng = rng
        self._counts = Deck(self._starts_rng, STOPS_A_MONTH)
        self._kinds: Deck[Kind] = Deck(rng, KIND_SHARES)
        self._contractor_tags = Deck(rng, CONTRACTOR_SHARES)
        self._operator_tags = {third: Deck(rng, shares) for third, shares in OPERATOR_SHARES.items()}
        self._recurs = chance(rng, 30, 10)
        self._trips = chance(rng, 55, 20)
        self._own_use = chance(rng, 32, 25)
        self._hole_miscoded = chance(rng, 12, 25)
        self._service_miscoded = chance(rng, 30, 10)
        self._repair = Durations(rng, 2.2, 0.7, 0.5, 30)
        self._operator_repair = Durations(rng, 2.2, 0.7, 0.5, 20)
        self._trip_out = Durations(rng, 0.9, 0.4, 0.25, 4)
        self._return = Durations(rng, 2.2, 0.5, 0.5, 10)
        self._own = Durations(rng, 1.5, 0.4, 0.5, 5)
        self._wait = Durations(rng, 2.718, 0.7, 0.25, 24)
        self._hole = Durations(rng, 3.32, 0.6, 0.5, 24)

    def draw(self, rig: str, earlier: list[Draft]) -> list[Draft]:
        """The stops of one rig in time order. ``earlier`` are its stops before the period, for recurrence."""
        starts = [start for month in self.months for start in self._month_starts(rig, month)]
        resumed: dict[str, int] = {}
        for stop in earlier:
            if stop.kind == "C":
                resumed[stop.tag] = max(stop.end, resumed.get(stop.tag, 0))
        drafts = []
        for index, start in enumerate(starts):
            room = self._room(rig, start, starts[index + 1] if index + 1 < len(starts) else None)
            draft = self._draft(rig, start, self._kinds.draw(), resumed)
            _fit(draft, room)
            if draft.kind == "C":
                resumed[draft.tag] = draft.end
            drafts.append(draft)
        if rig == CONTESTED_RIG and CONTESTED_MONTH in self.months:
            self._contest(drafts)
        return drafts

    # ---- when ----

    def _month_starts(self, rig: str, month: date) -> list[int]:
        first, last = midnight(month), midnight(next_month(month))
        wanted = self._counts.draw()
        if month == TALLIED_MONTH and rig in TALLIED_RIGS:
            wanted = max(wanted, TALLIED_STOPS)
        starts: list[int] = []
        while len(starts) < wanted:
            start = int(self._starts_rng.integers(first, last))
            if self._is_free(rig, start) and all(abs(start - other) >= SPACING for other in starts):
                starts.append(start)
        return sorted(starts)

    def _is_free(self, rig: str, start: int) -> bool:
        """No stop in the first hours of a period, the last ones of it, or at the change of the reporting tool."""
        begins, ends = midnight(self.months[0]), midnight(next_month(self.months[-1]))
        if start < begins + quarters(6) or start > ends - quarters(6):
            return False
        if day_of(start).day == 1 and start % 96 < SPACING:
            return False  # a stop late in the month before may be near
        change = midnight(NEW_TOOL_FROM)
        reports_anew = contractor_of(rig) in NEW_TOOL_CONTRACTORS
        return not (reports_anew and change - quarters(6) < start < change + quarters(6))

    def _room(self, rig: str, start: int, following: int | None) -> int:
        """Quarters that the stop may take."""
        ends = midnight(next_month(self.months[-1]))
        limit = ends - quarters(1) if following is None else following - BREATHER
        change = midnight(NEW_TOOL_FROM)
        if contractor_of(rig) in NEW_TOOL_CONTRACTORS and start < change:
            limit = min(limit, change - quarters(1))
        return min(limit, ends - quarters(1)) - start

    # ---- what ----

    def _contest(self, drafts: list[Draft]) -> None:
        """Make a late stop of August one on OK-5's hired shaker, long enough to be claimed by the coding in force."""
        first, last = midnight(CONTESTED_MONTH), midnight(next_month(CONTESTED_MONTH))
        late = [index for index, draft in enumerate(drafts[:-1]) if first + quarters(14 * 24) <= draft.start < last]
        late.sort(key=lambda index: ("OWRHC".index(drafts[index].kind), -drafts[index].start))
        for index in late:
            start = drafts[index].start
            booked = sum(_booked(draft) for draft in drafts if first <= draft.start < start)
            length = max(quarters(2), CODED_ALLOWANCE - booked + quarters(1))
            if length <= self._room(CONTESTED_RIG, start, drafts[index + 1].start):
                owner: Kind = "O" if self._hires.is_operators(CONTESTED_RIG, CONTESTED_TAG, day_of(start)) else "C"
                drafts[index] = Draft(CONTESTED_RIG, owner, CONTESTED_TAG, start, [("repair", length)])
                return
        raise AssertionError("no stop of August can be the contested one")

    def _draft(self, rig: str, start: int, kind: Kind, resumed: dict[str, int]) -> Draft:
        if kind == "C":
            return Draft(rig, "C", self._contractor_tag(rig, start, resumed), start, self._contractor_parts())
        if kind == "O":
            tag, length = self._operator_tag(rig, start, resumed), self._operator_repair.draw()
            owner: Kind = "O" if self._hires.is_operators(rig, tag, day_of(start)) else "C"
            return Draft(rig, owner, tag, start, [("repair", length)])
        if kind == "W":
            return Draft(rig, kind, "", start, [("repair", self._wait.draw())])
        if kind == "H":
            miscoded = self._hole_miscoded.draw() and self._miscodes
            return Draft(rig, kind, "", start, [("repair", self._hole.draw())], miscoded)
        miscoded = self._service_miscoded.draw() and self._miscodes
        return Draft(rig, kind, "TDS-1", start, [("repair", quarters(0.5))], miscoded)

    def _contractor_parts(self) -> list[tuple[Part, int]]:
        parts: list[tuple[Part, int]] = [("repair", self._repair.draw())]
        if self._trips.draw():
            parts.insert(0, ("trip_out", self._trip_out.draw()))
            if self._own_use.draw():
                parts.append(("own_use", self._own.draw()))
            parts.append(("return", self._return.draw()))
        return parts

    def _contractor_tag(self, rig: str, start: int, resumed: dict[str, int]) -> str:
        recent = [
            tag
            for tag, end in resumed.items()
            if start - end <= RECENT_DAYS * 96
            and not _is_unclear(start, end)
            and (tag not in HIRED_TAGS or self._is_contractors_for_sure(rig, tag, start))
        ]
        if recent and self._recurs.draw():
            return recent[int(self._rng.integers(len(recent)))]
        while True:
            tag = self._contractor_tags.draw()
            if not _is_unclear(start, resumed.get(tag)):
                return tag

    def _operator_tag(self, rig: str, start: int, resumed: dict[str, int]) -> str:
        deck = self._operator_tags[rig in RIGS_WITH_THIRD_PUMP]
        while True:
            tag = deck.draw()
            if tag not in HIRED_TAGS:
                return tag
            if not self._hires.near_change(rig, tag, day_of(start)) and not _is_unclear(start, resumed.get(tag)):
                return tag

    def _is_contractors_for_sure(self, rig: str, tag: str, start: int) -> bool:
        day = day_of(start)
        return not self._hires.is_operators(rig, tag, day) and not self._hires.near_change(rig, tag, day)


def draw_period(process: StopProcess, earlier: Mapping[str, list[Draft]]) -> dict[str, list[Draft]]:
    """Rig → its stops in time order."""
    return {rig: process.draw(rig, earlier.get(rig, [])) for rig in RIGS}


def _booked(draft: Draft) -> int:
    """Quarters that the coding in force counts against the contractor, whatever the item is."""
    if draft.kind in ("C", "O"):
        return sum(length for part, length in draft.parts if part == "repair" and draft.tag not in LISTED_TAGS)
    return draft.end - draft.start if draft.miscoded else 0


def _is_unclear(start: int, resumed: int | None) -> bool:
    return resumed is not None and UNCLEAR_DAYS[0] * 96 < start - resumed < UNCLEAR_DAYS[1] * 96


def _fit(draft: Draft, room: int) -> None:
    """Shorten the parts in proportion until the stop ends in time; every part keeps a quarter."""
    total = draft.end - draft.start
    if total <= room:
        return
    lengths = [max(1, length * room // total) for _, length in draft.parts]
    while sum(lengths) > room:
        lengths[lengths.index(max(lengths))] -= 1
    draft.parts = [(part, length) for (part, _), length in zip(draft.parts, lengths, strict=True)]
