"""An operation with its depths, as it will stand in a report, and how it is cut where a report ends."""

from __future__ import annotations

from dataclasses import dataclass

from scenarios.oil_npt.world.stoppages import Part


@dataclass(slots=True)
class Span:
    """One operation. Depths are whole metres at its start and end; ``stop`` is the index of the stop it belongs to."""

    start: int
    end: int
    op: int
    sub: str
    phase: str
    well: str
    hole_from: int
    hole_to: int
    bit_from: int
    bit_to: int
    remark: str
    stop: int | None = None
    part: Part | None = None


def split(span: Span, at: int) -> tuple[Span, Span]:
    """Two spans that meet at ``at``; depths in proportion of time."""
    whole, done = span.end - span.start, at - span.start
    hole = span.hole_from + (span.hole_to - span.hole_from) * done // whole
    bit = span.bit_from + (span.bit_to - span.bit_from) * done // whole
    first = Span(
        span.start, at, span.op, span.sub, span.phase, span.well, span.hole_from, hole, span.bit_from, bit,
        span.remark, span.stop, span.part,
    )  # fmt: skip
    second = Span(
        at, span.end, span.op, span.sub, span.phase, span.well, hole, span.hole_to, bit, span.bit_to,
        span.remark, span.stop, span.part,
    )  # fmt: skip
    return first, second
