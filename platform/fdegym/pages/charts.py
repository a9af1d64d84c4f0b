"""Geometry of the pictures on a page: numbers in, positions out. The templates draw; the words beside them are HTML.

Positions are in thousandths of the width (or height, downwards) of a picture that stretches with its place, so that a
chart needs no fixed size and its labels stay readable on a small screen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

SIZE = 1000.0
#: Beyond these a bar is cut and marked: a delivery can lose thousands of times what there was to gain.
DRAWN_LOW, DRAWN_HIGH = -2.0, 2.0


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a waterfall or comparison. ``kind``: total, gain, loss, none."""

    name: str
    kind: str
    value: Decimal | float
    x: float
    width: float
    cut: bool = False  #: it goes on beyond the edge


@dataclass(frozen=True, slots=True)
class Waterfall:
    bars: tuple[Bar, ...]
    zero: float
    threshold: float


def _scale(low: float, high: float) -> Any:
    span = high - low or 1.0
    return lambda value: round((min(max(value, low), high) - low) / span * SIZE, 2)


def waterfall(uplift: Decimal, adjusted: Decimal, cost: Decimal, score: Decimal, resolved_at: Decimal) -> Waterfall:
    """U, what incidents took, what contacts took, S. All four are in units of U."""
    steps = [
        ("work", Decimal(0), uplift, "gain" if uplift >= 0 else "loss"),
        ("incidents", uplift, adjusted, "loss"),
        ("contacts", adjusted, adjusted - cost, "loss"),
        ("score", Decimal(0), score, "total"),
    ]
    ends = [float(end) for step in steps for end in step[1:3]]
    low, high = max(min(0.0, *ends), DRAWN_LOW), min(max(1.0, *ends), DRAWN_HIGH)
    at = _scale(low, high)
    bars = []
    for name, start, end, kind in steps:
        left, right = sorted((float(start), float(end)))
        bars.append(
            Bar(
                name=name,
                kind=kind if start != end else "none",
                value=end - start,
                x=at(left),
                width=round(at(right) - at(left), 2),
                cut=left < low or right > high,
            )
        )
    return Waterfall(tuple(bars), zero=at(0.0), threshold=at(float(resolved_at)))


def comparison(values: Mapping[str, float]) -> tuple[Bar, ...]:
    """Bars from zero on one scale, in the order given; values that are no numbers get no bar."""
    known = [value for value in values.values() if math.isfinite(value)]
    at = _scale(min(0.0, *known), max(0.0, *known)) if known else _scale(0, 1)
    bars = []
    for name, value in values.items():
        left, right = sorted((0.0, value if math.isfinite(value) else 0.0))
        bars.append(
            Bar(name, "total" if name == "delivered" else "plain", value, at(left), round(at(right) - at(left), 2))
        )
    return tuple(bars)


@dataclass(frozen=True, slots=True)
class Line:
    """One series. ``path`` breaks where a value is missing; ``dots`` are its points."""

    name: str
    style: str
    path: str
    dots: tuple[tuple[float, float], ...]
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """Lines over one axis, with what an HTML legend and a table need."""

    title: str
    unit: str
    x: tuple[str, ...]
    lines: tuple[Line, ...]
    low: float
    high: float
    zero: float | None  #: where zero lies, when it is inside

    @property
    def last_x(self) -> str:
        return self.x[-1]

    @property
    def decimals(self) -> int:
        """Enough for the table: whole numbers where all are whole."""
        known = [value for line in self.lines for value in line.values if value is not None]
        return 0 if all(value == int(value) for value in known) else 2

    @property
    def rows(self) -> list[tuple[str, list[float | None]]]:
        return [(name, [line.values[index] for line in self.lines]) for index, name in enumerate(self.x)]


#: Strokes of the lines in order: they differ in more than colour.
STROKES = ("series", "second", "third", "fourth")
#: Names that a grader may give a series to have it drawn as what was, or as what could be.
STYLES = {"as found": "baseline", "baseline": "baseline", "reference": "reference"}


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def series(section: Mapping[str, Any]) -> Series | None:
    """A breakdown's ``series`` section (see ``scenarios.kit.world.Outcome``); None when it holds nothing to draw."""
    names = tuple(str(name) for name in section.get("x", ()))
    given = [
        (str(one.get("name", "")), tuple(_number(value) for value in one.get("values", ())[: len(names)]))
        for one in section.get("series", ())
    ]
    known = [value for _, values in given for value in values if value is not None]
    if not known or not names:
        return None
    low, high = min(0.0, *known), max(0.0, *known)
    if low == high:
        high = low + 1.0
    across, up = _scale(0, max(len(names) - 1, 1)), _scale(low, high)
    lines: list[Line] = []
    for name, values in given:
        stroke = STROKES[sum(line.style in STROKES for line in lines) % len(STROKES)]
        padded = values + (None,) * (len(names) - len(values))
        points = [None if v is None else (across(i), round(SIZE - up(v), 2)) for i, v in enumerate(padded)]
        lines.append(Line(name, STYLES.get(name.lower(), stroke), _path(points), tuple(p for p in points if p), padded))
    return Series(
        title=str(section.get("title", "")),
        unit=str(section.get("unit", "")),
        x=names,
        lines=tuple(lines),
        low=low,
        high=high,
        zero=round(SIZE - up(0.0), 2) if low < 0.0 else None,
    )


def _path(points: Sequence[tuple[float, float] | None]) -> str:
    parts, pen_down = [], False
    for point in points:
        if point is not None:
            parts.append(f"{'L' if pen_down else 'M'}{point[0]:g} {point[1]:g}")
        pen_down = point is not None
    return " ".join(parts)
