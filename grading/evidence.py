"""What admission found of a scenario, in aggregate: all that anybody may read of it.

No task, no solution and no hidden fact is named, and no figure belongs to a single task. Admission writes it into
``anchors.json``; the scenario's page and ``ops/evidence.py`` show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any


class EvidenceUnreadable(ValueError):
    """The data is no evidence. The message names the place."""


@dataclass(frozen=True, slots=True)
class Held:
    """What was demanded, in words, and on how many of how many (tasks, or entries of a battery) it holds."""

    what: str
    holds: int
    of: int


@dataclass(frozen=True, slots=True)
class Bound:
    """A share measured over ``of`` messages, and what it must reach (``least``) or not exceed (``most``)."""

    what: str
    value: float
    of: int
    least: float | None = None
    most: float | None = None

    @property
    def met(self) -> bool:
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)


@dataclass(frozen=True, slots=True)
class Evidence:
    """``strategies``: kind in words → how many of the scenario's own were played. Dates are the admission's, in UTC."""

    admitted_on: date
    tasks: int
    anchors: tuple[Held, ...]
    strategies: Mapping[str, int]
    checks: tuple[Held, ...]
    matcher: tuple[Bound, ...]

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "admitted_on": self.admitted_on.isoformat(), "strategies": dict(self.strategies)}

    @classmethod
    def from_json(cls, data: Any) -> Evidence:
        """Raises ``EvidenceUnreadable``."""
        try:
            return cls(
                date.fromisoformat(data["admitted_on"]),
                int(data["tasks"]),
                tuple(Held(**row) for row in data["anchors"]),
                {str(kind): int(count) for kind, count in data["strategies"].items()},
                tuple(Held(**row) for row in data["checks"]),
                tuple(Bound(**row) for row in data["matcher"]),
            )
        except (LookupError, TypeError, ValueError, AttributeError) as problem:
            raise EvidenceUnreadable(f"evidence: {type(problem).__name__} {problem}") from problem
