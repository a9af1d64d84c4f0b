"""Rental orders: which items the operator hires, where and when. They decide whose item fails on a given day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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

SHOWN_UNTIL = date(2026, 9, 30)  #: orders of later days only appear in production
OPERATOR = "TBE"
VENDORS: Mapping[str, tuple[str, ...]] = {
    "SHK": ("Brandt Solids Hire", "Clearflow Rentals"),
    "CEN-1": ("Clearflow Rentals", "Delta Centrifugal"),
    "CRT-1": ("Tubular Running Hire", "Steppe Casing Tools"),
    "MP-3": ("Steppe Pump Rentals",),
    "MWD": ("Meridian Directional",),
    "MTR": ("Meridian Directional", "Torr Motors"),
}
#: hired for a rig site, with no part in any stop
SITE_ITEMS: tuple[tuple[str, str, str], ...] = (
    ("LTW-1", "Light towers, four", "Steppe Site Hire"),
    ("FLT-1", "Forklift, 10 t", "Steppe Site Hire"),
    ("TNK-9", "Frac tank, 80 m3", "Clearflow Rentals"),
    ("CBN-4", "Office cabin", "Steppe Site Hire"),
)
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
        self._operator_items = bool(facts["operator_items"])
        self.orders = _numbered(_drawn(streams.rng("hires"), self._operator_items))
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
            order
            if order.off_hire is not None and order.off_hire <= day
            else Order(
                order.number, order.rig, order.tag, order.description, order.vendor, order.payer, order.on_hire, None
            )
            for order in self.orders
            if order.on_hire <= day
        ]

    def registered_as_operators(self, rig: str, tag: str) -> bool:
        """What maintenance's register says: right for listed items and for hires that began before February 2026."""
        if tag in LISTED_TAGS:
            return True
        return any(
            order.on_hire < date(2026, 2, 1) for order in self._by_slot.get((rig, tag), ()) if self._on_site(tag)
        )

    @staticmethod
    def _on_site(tag: str) -> bool:
        return tag in HIRED_TAGS


def _slots() -> list[tuple[str, str]]:
    return [(rig, tag) for rig in RIGS for tag in HIRED_TAGS if tag != "MP-3" or rig in RIGS_WITH_THIRD_PUMP]


def _drawn(rng: Generator, operator_items: bool) -> list[Order]:
    drafts: list[Order] = []

    def add(rig: str, tag: str, on_hire: date, off_hire: date | None, vendor: str, description: str) -> None:
        payer = OPERATOR if operator_items or tag not in HIRED_TAGS else contractor_of(rig)
        drafts.append(Order("", rig, tag, description, vendor, payer, on_hire, off_hire))

    slots = [_slots()[index] for index in rng.permutation(len(_slots()))]
    contested = slots.index(("OK-5", "SHK"))
    slots[0], slots[contested] = slots[contested], slots[0]  # the shaker of OK-5 is on hire all year
    patterns = [name for name, count in PATTERNS.items() for _ in range(count)]
    later = rng.permutation(len(slots))
    ending, pausing = set(later[:ENDING_LATER]), set(later[ENDING_LATER : ENDING_LATER + INTERRUPTED_LATER])
    for index, ((rig, tag), pattern) in enumerate(zip(slots, patterns, strict=True)):
        vendor = VENDORS[tag][int(rng.integers(len(VENDORS[tag])))]
        spans = _early_spans(rng, pattern)
        if index in ending or index in pausing:
            off_hire = _day(rng, date(2026, 12, 5), date(2027, 6, 10))
            spans[-1] = (spans[-1][0], off_hire)
            if index in pausing:
                spans.append((off_hire + timedelta(days=int(rng.integers(30, 65))), None))
        for on_hire, off in spans:
            add(rig, tag, on_hire, off, vendor, DESCRIPTIONS[tag])
    for rig in RIGS:
        for tag in LISTED_TAGS:
            vendor = VENDORS[tag][int(rng.integers(len(VENDORS[tag])))]
            add(rig, tag, _day(rng, date(2025, 3, 1), date(2025, 12, 20)), None, vendor, DESCRIPTIONS[tag])
    for _ in range(SITE_ORDERS):
        tag, description, vendor = SITE_ITEMS[int(rng.integers(len(SITE_ITEMS)))]
        on_hire = _day(rng, date(2026, 1, 10), date(2026, 6, 20))
        rig = RIGS[int(rng.integers(len(RIGS)))]
        add(rig, tag, on_hire, on_hire + timedelta(days=int(rng.integers(30, 95))), vendor, description)
    return drafts


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
    counts: dict[int, int] = {}
    for draft in sorted(drafts, key=lambda order: (order.on_hire, order.rig, order.tag)):
        year = draft.on_hire.year
        counts[year] = counts.get(year, 0) + 1
        number = f"RO-{year % 100:02d}-{counts[year] + (30 if year == 2025 else 0):03d}"
        numbered.append(
            Order(
                number,
                draft.rig,
                draft.tag,
                draft.description,
                draft.vendor,
                draft.payer,
                draft.on_hire,
                draft.off_hire,
            )
        )
    return numbered
