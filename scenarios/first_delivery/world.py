"""Orders of twenty shops, and how many pieces each of them sells. History, trial and held-out nights are one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy

from scenarios.kit.tables import csv_bytes
from scenarios.kit.world import BuildResult, Streams, TaskView

PRODUCTS = ("bloomer", "pasty", "saffron_bun")
TOWN = (
    *(
        "Fore Street Stores",
        "Mount Pleasant Deli",
        "The Old Forge Cafe",
        "Chapel Lane Dairy",
        "Penrose Stores",
        "Well Park Cafe",
    ),
    *(
        "Market Jew Grocer",
        "Trelawny Arms",
        "Hill Farm Shop",
        "Bus Station Buffet",
        "St Piran's Tea Room",
        "Rosevean Stores",
    ),
    *("Causeway Corner Shop", "Alverton Deli"),
)
HARBOUR = ("Quay Kiosk", "Lighthouse Kiosk", "Ferry Kiosk", "Slipway Kiosk", "Sands Kiosk", "Mole Kiosk")
ROUND = {"T": "town round", "H": "harbour round"}

VISIBLE = (date(2026, 8, 31), 12)  #: first morning, number of mornings
SHADOW = (date(2026, 9, 21), 6)
HELD_OUT = (date(2026, 10, 5), 30)

EARLY, LATE, BOTH = 12, 18, 6  #: of a night's sixty lines: messages in time alone, late alone, both
UNEVEN = 3  #: a shop sells up to so many per cent more or less than it should


@dataclass(frozen=True, slots=True)
class Message:
    """What a shop rang in for the next morning. ``pieces`` replaces what it had ordered before."""

    number: str
    received: datetime
    pieces: int


@dataclass(frozen=True, slots=True)
class Line:
    """One product of one shop on one morning. ``wanted``: pieces that its customers would buy."""

    shop: str
    product: str
    standing: int
    messages: tuple[Message, ...]
    due: int  #: what the bakery ought to send, by its own rules
    wanted: int

    @property
    def told(self) -> tuple[int, ...]:
        """Every quantity that was named for the morning."""
        return (self.standing, *(message.pieces for message in self.messages))


@dataclass(frozen=True, slots=True)
class Night:
    morning: date
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Shops:
    """Shop number → name, and (shop, product) → standing order."""

    names: Mapping[str, str]
    standing: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @classmethod
    def drawn(cls, streams: Streams) -> Shops:
        names = {f"T{number:02}": name for number, name in enumerate(TOWN, 1)}
        names |= {f"H{number:02}": name for number, name in enumerate(HARBOUR, 1)}
        rng = streams.rng("standing orders")
        return cls(names, {(shop, product): int(rng.integers(36, 61)) for shop in names for product in PRODUCTS})


def in_force(standing: int, messages: Sequence[Message], facts: Mapping[str, Any]) -> int:
    """The quantity that holds for the morning. Messages are in the order of their arrival."""
    quantity = standing
    for message in messages:
        late = message.received.hour >= facts["cutoff_hour"]
        if not late or facts["late_rule"] == "taken_late":
            quantity = message.pieces
        elif facts["late_rule"] == "more_only":
            quantity = max(quantity, message.pieces)
    return quantity


def sold_pct(shop: str, facts: Mapping[str, Any]) -> int:
    """Pieces that a shop sells of a hundred in force."""
    if shop.startswith("H"):
        return int(facts["kiosk_sold_pct"])
    return 100 + (int(facts["spare_pct"]) if facts["spare_is_sold"] else 0)


def percent(quantity: int, share: int) -> int:
    """So many per cent of a quantity, to the nearest piece."""
    return (quantity * share + 50) // 100


def nights(
    streams: Streams, name: str, facts: Mapping[str, Any], first: date, count: int, number: int
) -> tuple[Night, ...]:
    """``count`` mornings. A night has its quota of each kind of message, so that no night is luckier than another."""
    rng, shops = streams.rng(name), Shops.drawn(streams)
    found = []
    for morning in (first + timedelta(days=day) for day in range(count)):
        kinds = rng.permutation(len(shops.standing))
        lines = []
        for (shop, product), kind in zip(shops.standing, kinds.tolist(), strict=True):
            standing = shops.standing[shop, product]
            messages = _messages(rng, kind, standing, morning, number)
            number += len(messages)
            quantity, share = in_force(standing, messages, facts), sold_pct(shop, facts)
            uneven = int(rng.integers(-UNEVEN, UNEVEN + 1))
            lines.append(
                Line(shop, product, standing, messages, percent(quantity, share), percent(quantity, share + uneven))
            )
        found.append(Night(morning, tuple(lines)))
    return tuple(found)


def _messages(rng: numpy.random.Generator, kind: int, standing: int, morning: date, number: int) -> tuple[Message, ...]:
    """The messages of a line whose place in the night's order is ``kind``: that decides when, and whether for more."""
    times = []
    if kind < EARLY or EARLY + LATE <= kind < EARLY + LATE + BOTH:
        times.append(int(rng.integers(8 * 60, 15 * 60)))
    if EARLY <= kind < EARLY + LATE + BOTH:
        times.append(int(rng.integers(15 * 60, 18 * 60 + 30)))
    day, found, pieces = morning - timedelta(days=1), [], standing
    for place, minute in enumerate(times):
        more = (kind + place) % 2 == 0
        share = int(rng.integers(140, 171)) if more else int(rng.integers(35, 66))
        pieces = percent(standing, share)
        received = datetime.combine(day, time(minute // 60, minute % 60))
        found.append(Message(f"B-{number + place:05}", received, pieces))
    return tuple(found)


# ---- files -----------------------------------------------------------------------------------------------------------


def orders_csv(of: Sequence[Night]) -> bytes:
    """Messages in the order of their arrival."""
    rows = sorted(
        (message.received, message.number, night.morning.isoformat(), line.shop, line.product, message.pieces)
        for night in of
        for line in night.lines
        for message in line.messages
    )
    columns = ["number", "received", "morning", "shop", "product", "pieces"]
    return csv_bytes(
        columns,
        [
            (number, received.isoformat(timespec="minutes"), morning, shop, product, pieces)
            for received, number, morning, shop, product, pieces in rows
        ],
    )


def standing_csv(shops: Shops) -> bytes:
    rows = [(shop, product, pieces) for (shop, product), pieces in shops.standing.items()]
    return csv_bytes(["shop", "product", "pieces"], rows)


def shops_csv(shops: Shops) -> bytes:
    """``agreement`` is what was signed when the shop came: R may send back what it has not sold, F may not."""
    rows = [(shop, name, ROUND[shop[0]], "R" if shop.startswith("H") else "F") for shop, name in shops.names.items()]
    return csv_bytes(["shop", "name", "round", "agreement"], rows)


def as_found(line: Line, spare_pct: int) -> int:
    """What the sheet says today: the newest message, or the standing order, and the spare."""
    return percent(line.told[-1], 100 + spare_pct)


def build(task: TaskView, streams: Streams, out: Path) -> BuildResult:
    past = nights(streams, "past", task.facts, *VISIBLE, 20101)
    shops = Shops.drawn(streams)
    rows = []
    for night in past:
        for line in night.lines:
            sent = as_found(line, task.facts["spare_pct"])
            left, missed = max(sent - line.wanted, 0), max(line.wanted - sent, 0)
            # Three digits each, as the till prints them: no file is longer for what is true in it.
            rows.append(
                (night.morning.isoformat(), line.shop, line.product, f"{sent:03}", f"{left:03}", f"{missed:03}")
            )
    data = out / "data"
    (data / "orders.csv").write_bytes(orders_csv(past))
    (data / "standing.csv").write_bytes(standing_csv(shops))
    (data / "shops.csv").write_bytes(shops_csv(shops))
    columns = ["morning", "shop", "product", "sent", "left_over", "missed"]
    (data / "sent.csv").write_bytes(csv_bytes(columns, rows))
    messages = [message for night in past for line in night.lines for message in line.messages]
    late = [message.number for message in messages if message.received.hour >= task.facts["cutoff_hour"]]
    example = max(messages, key=lambda message: (message.number in late, message.pieces, message.number))
    return BuildResult(
        facts={"ex_late": example.number, "ex_late_time": f"{example.received:%H:%M}"},
        records={"order": [message.number for message in messages]},
        record_groups={"late": {"order": late}},
    )


class Production:
    """The mornings that a delivered sheet has to serve, and what became of it on each."""

    def __init__(self, task: TaskView, streams: Streams, *, shadow: bool = False) -> None:
        self.facts, self.shops = task.facts, Shops.drawn(streams)
        name, period, number = ("trial", SHADOW, 31001) if shadow else ("held out", HELD_OUT, 40001)
        self.nights = nights(streams, name, task.facts, *period, number)

    def drop(self, night: Night) -> dict[str, bytes]:
        """File name → content of what the evening's call finds."""
        return {
            "orders.csv": orders_csv([night]),
            "standing.csv": standing_csv(self.shops),
            "shops.csv": shops_csv(self.shops),
        }


def shadow(task: TaskView, streams: Streams) -> Production:
    """Six mornings of their own, for trials."""
    return Production(task, streams, shadow=True)
