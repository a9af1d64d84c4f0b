"""Rental orders: which items the operator hires, where and when. They decide whose item fails on a given day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

from numpy.random import Generator

from scenarios.kit.world import Streams
from scenarios.oil_npt.world.fleet import (
    DESCRIPTIONS,
    HIRED_TAGS,
    LISTED_TAGS,
    RIGS_WITH_THIRD_PUMP,
    contractor_of,
)
from scenarios.oil_npt.world.stoppages import RIGS

REGISTER_KEPT_UNTIL = date(2026, 2, 1)  #: maintenance has entered no hire since
OPERATOR = "TBE"
VENDORS: Mapping[str, tuple[str, ...]] = {
    "SHK": ("Brandt Solids Hire", "Clearflow Rentals"),
    "CEN-1": ("Clearflow Rentals", "Delta Centrifugal"),
    "CRT-1": ("Tubular Running Hire", "Steppe Casing Tools"),
    "MP-3": ("Steppe Pump Rentals",),
    "MWD": ("Meridian Directional",),
    "MTR": ("Meridian Directional", "Torr Motors"),
    "LTW-1": ("Steppe Site Hire",),
    "FLT-1": ("Steppe Site Hire",),
    "TNK-9": ("Clearflow Rentals",),
    "CBN-4": ("Steppe Site Hire",),
}
#: hired for a rig site, with no part in any stop
SITE_ITEMS: Mapping[str, str] = {
    "LTW-1": "Light towers, four",
    "FLT-1": "Forklift, 10 t",
    "TNK-9": "Frac tank, 80 m3",
    "CBN-4": "Office cabin",
}
SITE_ORDERS = 8
#: hires of the 27 pairs of rig and item by how they run up to September 2026
PATTERNS: Mapping[str, int] = {"running since 2025": 5, "from early 2026": 7, "interrupted": 10, "from later": 5}
ENDING_LATER, INTERRUPTED_LATER = 4, 5  #: hires that end, or pause, in the held-out period


@dataclass(frozen=True, slots=True)
class Order:
    """A rental order. ``off_hire`` is the last day of the hire; None: running for good."""

    number: str
    rig: str
    tag: str
    description: str
    vendor: str
    payer: str
    on_hire: date
    off_hire: date | None

    def runs_on(self, day: date) -> bool:
        return self.on_hire <= day and (self.off_hire is None or day <= self.off_hire)


class Hires:
    """All orders of the whole period, and whose item a tag is on a rig and day."""

    def __init__(self, streams: Streams, facts: Mapping[str, Any]) -> None:
        self.orders = _numbered(_drawn(streams.rng("hires"), bool(facts["operator_items"])))
        self._by_slot: dict[tuple[str, str], list[Order]] = {}
        for order in self.orders:
            self._by_slot.setdefault((order.rig, order.tag), []).append(order)

    def is_operators(self, rig: str, tag: str, day: date) -> bool:
        """Exhibit D: a listed item, or one on a running order that the operator pays."""
        if tag in LISTED_TAGS:
            return True
        return any(order.payer == OPERATOR and order.runs_on(day) for order in self._by_slot.get((rig, tag), ()))

    def near_change(self, rig: str, tag: str, day: date) -> bool:
        """Whether a hire of the item begins or ends within two days: no stop shall hang on the hour of a hand-over."""
        return any(
            abs((edge - day).days) <= 2
            for order in self._by_slot.get((rig, tag), ())
            for edge in (order.on_hire, order.off_hire)
            if edge is not None
        )

    def known_on(self, day: date) -> list[Order]:
        """The orders as the purchasing system shows them on ``day``: begun, with a day off hire only once it is past."""
        return [
            order if order.off_hire is not None and order.off_hire <= day else replace(order, off_hire=None)
            for order in self.orders
            if order.on_hire <= day
        ]

    def registered_as_operators(self, rig: str, tag: str) -> bool:
        """What maintenance's register says: right for listed items and for hires that began before February 2026."""
        if tag in LISTED_TAGS:
            return True
        orders = self._by_slot.get((rig, tag), ())
        return any(order.payer == OPERATOR and order.on_hire < REGISTER_KEPT_UNTIL for order in orders)


def _slots() -> list[tuple[str, str]]:
    return [(rig, tag) for rig in RIGS for tag in HIRED_TAGS if tag != "MP-3" or rig in RIGS_WITH_THIRD_PUMP]


def _drawn(rng: Generator, operator_items: bool) -> list[Order]:
    """All orders without their numbers."""

    def order(rig: str, tag: str, on_hire: date, off_hire: date | None) -> Order:
        payer = OPERATOR if operator_items or tag not in HIRED_TAGS else contractor_of(rig)
        vendors = VENDORS[tag]
        vendor = vendors[int(rng.integers(len(vendors)))]
        return Order("", rig, tag, DESCRIPTIONS.get(tag) or SITE_ITEMS[tag], vendor, payer, on_hire, off_hire)

    drafts = [order(rig, tag, on_hire, off_hire) for rig, tag, on_hire, off_hire in _hires_of_equipment(rng)]
    drafts += [
        order(rig, tag, _day(rng, date(2025, 3, 1), date(2025, 12, 20)), None) for rig in RIGS for tag in LISTED_TAGS
    ]
    site_items = tuple(SITE_ITEMS)
    for _ in range(SITE_ORDERS):
        tag = site_items[int(rng.integers(len(site_items)))]
        on_hire = _day(rng, date(2026, 1, 10), date(2026, 6, 20))
        off_hire = on_hire + timedelta(days=int(rng.integers(30, 95)))
        drafts.append(order(RIGS[int(rng.integers(len(RIGS)))], tag, on_hire, off_hire))
    return drafts


def _hires_of_equipment(rng: Generator) -> list[tuple[str, str, date, date | None]]:
    """(rig, tag, on hire, off hire) of the items that can stop a rig, over the whole period."""
    slots = [_slots()[index] for index in rng.permutation(len(_slots()))]
    contested = slots.index(("OK-5", "SHK"))
    slots[0], slots[contested] = slots[contested], slots[0]  # the shaker of OK-5 is on hire all year
    patterns = [name for name, count in PATTERNS.items() for _ in range(count)]
    later = rng.permutation(len(slots))
    ending, pausing = set(later[:ENDING_LATER]), set(later[ENDING_LATER : ENDING_LATER + INTERRUPTED_LATER])
    hires: list[tuple[str, str, date, date | None]] = []
    for index, ((rig, tag), pattern) in enumerate(zip(slots, patterns, strict=True)):
        spans = _early_spans(rng, pattern)
        if index in ending or index in pausing:
            off_hire = _day(rng, date(2026, 12, 5), date(2027, 6, 10))
            spans[-1] = (spans[-1][0], off_hire)
            if index in pausing:
                spans.append((off_hire + timedelta(days=int(rng.integers(30, 65))), None))
        hires.extend((rig, tag, *span) for span in spans)
    return hires


def _early_spans(rng: Generator, pattern: str) -> list[tuple[date, date | None]]:
    if pattern == "running since 2025":
        return [(_day(rng, date(2025, 5, 1), date(2025, 12, 20)), None)]
    if pattern == "from early 2026":
        return [(_day(rng, date(2026, 2, 2), date(2026, 2, 20)), None)]
    if pattern == "interrupted":
        off_hire = _day(rng, date(2026, 4, 1), date(2026, 7, 25))
        again = off_hire + timedelta(days=int(rng.integers(20, 56)))
        return [(_day(rng, date(2026, 2, 2), date(2026, 2, 26)), off_hire), (again, None)]
    return [(_day(rng, date(2026, 4, 1), date(2026, 7, 20)), None)]


def _day(rng: Generator, first: date, last: date) -> date:
    return first + timedelta(days=int(rng.integers((last - first).days + 1)))


def _numbered(drafts: list[Order]) -> list[Order]:
    """Order numbers run by year in the order of the days on hire."""
    numbered: list[Order] = []
    counts = {2025: 30}  # the year's first orders were for rigs that have left
    for draft in sorted(drafts, key=lambda order: (order.on_hire, order.rig, order.tag)):
        year = draft.on_hire.year
        counts[year] = counts.get(year, 0) + 1
        numbered.append(replace(draft, number=f"RO-{year % 100:02d}-{counts[year]:03d}"))
    return numbered
