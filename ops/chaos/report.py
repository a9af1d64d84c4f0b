"""What a fault test came to: a table for people, JSON for everything else."""

from __future__ import annotations

import math
import os
import platform
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ops.chaos.auditor import Audited

BACK_WITHIN_S = 10.0  #: everybody, after a fault is over
LINES = ("terminal", "feed", "pages", "people")


@dataclass(slots=True)
class Happened:
    """One fault. ``back_s``: line → seconds until the last person's was alive again; None: not while we waited."""

    kind: str
    began: float
    over: float
    back_s: dict[str, float | None] = field(default_factory=dict)

    @property
    def everybody_s(self) -> float:
        """Seconds until everybody had everything again; infinite where somebody never did."""
        return max((math.inf if each is None else each for each in self.back_s.values()), default=0.0)


@dataclass(slots=True)
class Told:
    """A whole fault test."""

    seed: int
    installation: str
    seconds: float
    faults: list[Happened]
    left_out: dict[str, str]  #: kind → why it was not tried
    waited_for_grades_s: list[float]
    orphans: dict[str, float]  #: every orphan there was for a moment → for how long it was there
    late_s: list[float]  #: how late the test's own loop was, ten times a second
    audited: Audited
    load: tuple[float, float] = (0.0, 0.0)  #: of the machine, at the beginning and at the end

    def problems(self) -> list[str]:
        """Why the test is not passed, in words; the auditor's findings first."""
        found = [f"{each.about}: {each.words} ({each.run})" for each in self.audited.findings]
        late = [fault for fault in self.faults if fault.everybody_s > BACK_WITHIN_S]
        return found + [f"after {fault.kind} somebody was away for {_seconds(fault.everybody_s)}" for fault in late]

    def as_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "installation": self.installation,
            "seconds": round(self.seconds, 1),
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "load": self.load,
            "faults": [asdict(fault) for fault in self.faults],
            "left_out": self.left_out,
            "waited_for_grades_s": [round(each, 2) for each in self.waited_for_grades_s],
            "orphans_s": {what: round(lasted, 1) for what, lasted in self.orphans.items()},
            "late_s": {
                "p95": round(percentile(self.late_s, 0.95), 3),
                "longest": round(max(self.late_s, default=0), 3),
            },
            "looked_at": dict(self.audited.looked_at),
            "findings": [asdict(each) for each in self.audited.findings],
        }


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that is at least as large as this share of all; 0 for none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def _seconds(value: float) -> str:
    return "never" if math.isinf(value) else f"{value:.1f}"


def markdown(told: Told) -> str:
    """Faults by kind with the time until everybody had everything back, what was compared, and what was found."""
    rows = [
        "| fault | times | back after, p50 | p95 | longest | slowest line |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for kind in (*dict.fromkeys(fault.kind for fault in told.faults), "all"):
        faults = [fault for fault in told.faults if kind in ("all", fault.kind)]
        times = [fault.everybody_s for fault in faults]
        slowest = Counter(_slowest(fault) for fault in faults if fault.back_s).most_common(1)
        figures = " | ".join(_seconds(each) for each in (percentile(times, 0.5), percentile(times, 0.95), max(times)))
        rows.append(f"| {kind} | {len(faults)} | {figures} | {slowest[0][0] if slowest else ''} |")
    waited = told.waited_for_grades_s
    looked = ", ".join(f"{count:,} {what}" for what, count in told.audited.looked_at.items())
    by_subject = Counter(finding.about for finding in told.audited.findings)
    found = ", ".join(f"{count} about {about}" for about, count in by_subject.items()) or "nothing"
    longest = max(told.orphans.values(), default=0.0)
    rows += [
        "",
        f"{len(told.faults)} faults in {told.seconds / 60:.0f} minutes, seed {told.seed}, {told.installation}, "
        f"{os.cpu_count()} cores, load {told.load[0]:.1f} to {told.load[1]:.1f}. Seconds. The test itself was late by "
        f"{percentile(told.late_s, 0.95):.2f} s at the 95th percentile, by {max(told.late_s, default=0):.1f} s at most.",
        f"Compared: {looked}. The auditor found {found}.",
        f"From handing in to the debrief: p50 {percentile(waited, 0.5):.1f} s, longest {max(waited, default=0):.1f} s. "
        f"Orphans that were there for a moment: {len(told.orphans)}, the longest for {longest:.0f} s.",
    ]
    rows += [f"Not tried: {kind} ({why})." for kind, why in told.left_out.items()]
    return "\n".join(rows)


def _slowest(fault: Happened) -> str:
    return max(fault.back_s, key=lambda line: math.inf if (took := fault.back_s[line]) is None else took)
