"""Rebuilds stops from report lines, which carry no event number.

A stop for an item is: a trip out that names the item, if the string had to come out; one or more repair lines on the
same item; and, after a trip out, everything until the bit is back at the depth of interruption. Lines of the way back
do not name the item. What the operator did for itself in between is kept as a part of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from npt.record import Line

DRILL, TRIP, REPAIR = 2, 6, 8
BACK_WITHIN_M = 1.05  # a metre, and what rounding to a tenth of a foot takes from it

#: routine service and hole trouble are not repairs, whatever code the crew picked and whatever item they name
NOT_A_REPAIR = re.compile(
    r"\b(service|grease|lube|lubricate|lcm|losses|lost returns|tight (hole|spot)|stuck pipe|pack-?off|overpull)\b", re.I
)
#: the operator's own work is either coded so or marked as asked for
OWN_USE = re.compile(r"\bco\. (man|rep)\b|\bfor tbe\b", re.I)


@dataclass(frozen=True)
class Part:
    kind: str  # trip_out, repair, own_use or return
    start: datetime
    end: datetime


@dataclass(frozen=True)
class Stop:
    """``clean`` is False if the lines do not show how the stop ended."""

    rig: str
    tag: str
    parts: tuple[Part, ...]
    clean: bool

    @property
    def start(self) -> datetime:
        return self.parts[0].start

    @property
    def end(self) -> datetime:
        return self.parts[-1].end


def find_stops(lines: list[Line], tag_of: Callable[[str], str | None]) -> list[Stop]:
    """The stops for equipment in one rig's lines, in time order. ``tag_of`` finds the item that a remark names."""
    stops, index = [], 0
    while index < len(lines):
        tag = tag_of(lines[index].remark)
        if tag is None or not _is_repair(lines[index]) and not _opens_with_trip(lines, index, tag, tag_of):
            index += 1
            continue
        stop, index = _read_stop(lines, index, tag, tag_of)
        stops.append(stop)
    return stops


def _read_stop(lines: list[Line], first: int, tag: str, tag_of: Callable[[str], str | None]) -> tuple[Stop, int]:
    """The stop that begins with line ``first``, and the index of the line after it."""
    index, parts, clean = first, [], True
    while lines[index].op_code == TRIP:
        parts.append(Part("trip_out", lines[index].start, lines[index].end))
        index += 1
    tripped = bool(parts)
    while index < len(lines) and _is_repair(lines[index]) and tag_of(lines[index].remark) == tag:
        parts.append(Part("repair", lines[index].start, lines[index].end))
        index += 1
    if tripped:
        depth = lines[first - 1].bit_depth_m if first else None
        back = False
        while not back and index < len(lines) and lines[index].op_code not in (DRILL, REPAIR):
            line = lines[index]
            parts.append(Part("own_use" if _is_own_use(line) else "return", line.start, line.end))
            back = depth is not None and abs(line.bit_depth_m - depth) <= BACK_WITHIN_M
            index += 1
        clean = back
    gapless = all(before.end == after.start for before, after in zip(parts, parts[1:], strict=False))
    return Stop(lines[first].rig, tag, tuple(parts), clean and gapless), index


def _opens_with_trip(lines: list[Line], index: int, tag: str, tag_of: Callable[[str], str | None]) -> bool:
    """Whether a trip out for a repair of ``tag`` begins here; over midnight it may take two lines."""
    while index < len(lines) and lines[index].op_code == TRIP and tag_of(lines[index].remark) == tag:
        index += 1
        if index < len(lines) and _is_repair(lines[index]) and tag_of(lines[index].remark) == tag:
            return True
    return False


def _is_repair(line: Line) -> bool:
    return line.op_code == REPAIR and not NOT_A_REPAIR.search(line.remark)


def _is_own_use(line: Line) -> bool:
    return line.sub_code == "OPR" or bool(OWN_USE.search(line.remark))
