"""Figures of `make bench`: what was measured, what was wished for, what a peer did in the same minutes, and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Figure:
    """One line. ``target`` is for the value, or, with ``by_ratio``, for the value divided by the peer's."""

    name: str
    value: float
    unit: str
    target: float | None = None
    at_least: bool = False  #: more is better
    peer: str = ""
    peer_value: float | None = None
    by_ratio: bool = False
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return self.value / self.peer_value if self.peer_value else None

    @property
    def met(self) -> bool | None:
        """``None`` where nothing was aimed at."""
        judged = self.ratio if self.by_ratio else self.value
        if self.target is None or judged is None:
            return None
        return judged >= self.target if self.at_least else judged <= self.target

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": self.ratio, "met": self.met}

    @classmethod
    def of_json(cls, said: dict[str, Any]) -> Figure:
        return cls(**{each.name: said[each.name] for each in fields(cls)})


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value with at least ``share`` of all at or below it."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -int(-len(ordered) * share // 1) - 1))]


def number(value: float) -> str:
    """Three significant figures, without an exponent."""
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cells(figure: Figure) -> tuple[str, str, str, str, str]:
    """measured, target, ratio, verdict, note."""
    sign = "≥" if figure.at_least else "≤"
    target = ""
    if figure.target is not None:
        target = f"{sign} {number(figure.target)}{'×' if figure.by_ratio else f' {figure.unit}'}"
    ratio = f"{figure.ratio:.2f}× {figure.peer} ({number(figure.peer_value)})" if figure.peer_value else ""
    verdict = {True: "met", False: "missed", None: ""}[figure.met]
    return f"{number(figure.value)} {figure.unit}", target, ratio if figure.ratio else "", verdict, figure.note


HEAD = ("what", "measured", "target", "beside", "verdict", "")


def table(figures: Sequence[Figure]) -> str:
    """For a terminal."""
    rows = [HEAD, *((figure.name, *cells(figure)) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def markdown(figures: Sequence[Figure]) -> str:
    """For ``docs/performance.md``."""
    rows = [HEAD, ("---",) * len(HEAD), *((figure.name, *cells(figure)) for figure in figures)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
