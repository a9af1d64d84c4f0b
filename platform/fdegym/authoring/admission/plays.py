"""Playing one solution for admission, and what of it is kept: only what does not depend on other solutions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fdegym.authoring.admission.work import Item
from fdegym.delivery.play import play


def _silent(text: str) -> None:
    """Progress is told by whole plays."""


def play_solution(item: Item) -> dict[str, Any]:
    """Play and grade; the result as it is kept. Raises what ``play`` raises."""
    played = play(item.scenario, item.name, task_id=item.task, progress=_silent)
    grade = played.grade
    return {
        "kpi": grade.kpi,
        "contact_cost": str(grade.contact_cost),
        "incidents": [str(incident["id"]) for incident in grade.incidents],
    }


@dataclass(frozen=True, slots=True)
class Kept:
    """A play as it was kept: the delivery's KPI, C and incidents. U follows from these and the two ends of its task."""

    kpi: float
    contact_cost: Decimal
    incidents: tuple[str, ...]

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Kept:
        return cls(float(row["kpi"]), Decimal(row["contact_cost"]), tuple(row["incidents"]))
