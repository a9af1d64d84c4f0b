"""What really happened on the rigs: the truth that the world writes reports from and the grader credits against.

Never written to any file that a delivery can see. Times are naive field time (UTC+05:00) on quarter hours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

RIGS = ("HD-11", "HD-14", "HD-19", "OK-3", "OK-5", "OK-7", "VM-201", "VM-204")

Kind = Literal["C", "O", "W", "H", "R"]  #: contractor's item, operator's item, wait, hole problem, routine service
Part = Literal["trip_out", "repair", "own_use", "return"]


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a stoppage; ``own_use`` is the operator's own work while the string was out."""

    part: Part
    start: datetime
    end: datetime

    @property
    def hours(self) -> float:
        return (self.end - self.start).total_seconds() / 3600


@dataclass(frozen=True, slots=True)
class Version:
    """One revision of a daily report as it concerns a stoppage: who signed it and how the stoppage reads in it."""

    rev: int
    signed_by_both: bool
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Stoppage:
    """A stop on one rig. ``versions`` holds the stoppage as each revision of its (first) report tells it, rev 0 first.

    Segments are contiguous and in time order. ``start`` of the stop is the start of the first segment, the operation
    resumes at the end of the last. A stop that crosses midnight touches several reports.
    """

    rig: str
    kind: Kind
    tag: str  #: equipment tag; "" for W and H
    versions: tuple[Version, ...]
    report_dates: tuple[date, ...]  #: every report date a segment of any version touches
    revised_report: date | None = None  #: the report whose re-issue changes this stop, if any
    notes: dict[str, str] = field(default_factory=dict)

    def version(self, binding: Literal["last_joint", "first", "last"]) -> Version:
        """The version that counts: the latest signed by both (else rev 0), the first, or the newest as it is."""
        if binding == "first":
            return self.versions[0]
        if binding == "last":
            return self.versions[-1]
        signed = [version for version in self.versions if version.signed_by_both]
        return signed[-1] if signed else self.versions[0]
