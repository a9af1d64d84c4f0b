"""The way of a shipment as the scanners saw it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from numpy.random import Generator

from scenarios.logistics_claims.world.claims import Scan

OWN = "own"
DAY_MIN = 1_440

#: where a haulier's leg shows something: on receipt from it, already when it took over, or nowhere
Mark = Literal["receipt", "takeover", "none"]
End = Literal["delivered", "lost", "found"]


@dataclass(frozen=True, slots=True)
class Route:
    """Depots in order; ``haulier`` drives the leg that begins at ``stops[leg]``, if any."""

    stops: tuple[str, ...]
    haulier: str
    leg: int
    mark: Mark
    own_mark: bool  #: an exception on a leg of our own


def scans(
    route: Route, picked_up: date, base_day: date, end: End, notes: Sequence[str], rng: Generator
) -> tuple[Scan, ...]:
    """All scans of a shipment in the order of time. ``notes``: words for up to two exceptions."""
    gaps = rng.integers(0, 60, size=16).tolist()
    at = picked_up.toordinal() * DAY_MIN + 14 * 60 + gaps[0]
    made = [Scan(at, route.stops[0], "PU", OWN)]
    at += 45 + gaps[1]
    made.append(Scan(at, route.stops[0], "HUB_IN", OWN))
    for leg, place in enumerate(route.stops[1:]):
        start = route.stops[leg]
        hauled = bool(route.haulier) and leg == route.leg
        carrier = route.haulier if hauled else OWN
        at += 60 + gaps[2 + leg]
        if hauled and route.mark == "takeover":
            made.append(Scan(at, start, "EXC", OWN, notes[0]))
            at += 4 + gaps[5] // 6
        made.append(Scan(at, start, "HUB_OUT", carrier))
        at += 150 + 4 * gaps[6 + leg]
        made.append(Scan(at, place, "HUB_IN", carrier))
        second_look = hauled and route.mark == "takeover" and gaps[9] < 30
        if (hauled and route.mark == "receipt") or second_look or (route.own_mark and not hauled and leg == 0):
            made.append(Scan(at + 5 + gaps[10] // 2, place, "EXC", carrier, notes[1]))
    last = route.stops[-1]
    out = max(at + 90, base_day.toordinal() * DAY_MIN + 5 * 60 + gaps[11])
    if end == "delivered":
        made.append(Scan(out, last, "OFD", OWN))
        made.append(Scan(out + 40 + 6 * gaps[12], last, "DLV", OWN))
    elif end == "found":
        made.append(Scan(out + DAY_MIN * (1 + gaps[13] % 3), last, "FND", OWN))
    elif gaps[13] < 30:
        made.append(Scan(out, last, "OFD", OWN))
    if gaps[14] < 2 and gaps[15] < 54:  # three in a hundred shipments have a scan that arrives late
        where = next(index for index, scan in enumerate(made) if scan.event == "HUB_OUT")
        scan = made[where]
        made[where] = Scan(scan.at, scan.place, scan.event, scan.carrier, scan.note, 1 + gaps[15] % 4)
    return tuple(made)
