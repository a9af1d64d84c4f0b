"""What people of a load note while they work, and how the notes of several processes become one."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Notes:
    """``times``: what was done → milliseconds of each time. ``errors`` and ``counts``: words → how often."""

    times: dict[str, list[float]] = field(default_factory=dict)
    errors: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)

    def took(self, what: str, ms: float) -> None:
        self.times.setdefault(what, []).append(round(ms, 3))

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] += number

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Note how long the block takes; nothing if it raises."""
        started = time.perf_counter()
        yield
        self.took(what, (time.perf_counter() - started) * 1e3)

    def add(self, other: Notes) -> None:
        for what, values in other.times.items():
            self.times.setdefault(what, []).extend(values)
        self.errors += other.errors
        self.counts += other.counts

    def as_json(self) -> dict[str, Any]:
        return {"times": self.times, "errors": dict(self.errors), "counts": dict(self.counts)}

    @classmethod
    def of_json(cls, said: dict[str, Any]) -> Notes:
        return cls(dict(said["times"]), Counter(said["errors"]), Counter(said["counts"]))


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all does not exceed; NaN of none."""
    if not values:
        return math.nan
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
