"""The figures of every admitted solution: ``scenarios/<id>/anchors.json`` as typed data, read and written purely.

Only the admission command writes the file. Grading takes the two ends of U from it, and trusts them only for the very
release of the scenario that they were measured on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from grading.evidence import Evidence, EvidenceUnreadable
from grading.score import AnchorsUnusable, adjusted, uplift


class AnchorsUnreadable(ValueError):
    """The text is no anchors file. The message names the place."""


@dataclass(frozen=True, slots=True)
class SolutionFigures:
    """One solution played on one task. ``score`` is S with its conversation's cost, None where it has none."""

    kind: str  #: do_nothing, reference, literal, original_solution, shortcut, bypass, ablation
    kpi: float
    uplift: Decimal
    score: Decimal | None = None
    incidents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskAnchors:
    """The two ends of U on one task, in the KPI's own unit, and every solution between and beyond them.

    ``prices``: key fact → what the rule that follows from it is worth: 1 − the best U_adj of a delivery without it.
    """

    kpi_baseline: float
    kpi_reference: float
    solutions: Mapping[str, SolutionFigures] = field(default_factory=dict)
    prices: Mapping[str, Decimal] = field(default_factory=dict)

    @property
    def span(self) -> float:
        """KPI reference − KPI baseline."""
        return self.kpi_reference - self.kpi_baseline

    def uplift_of(self, kpi: float) -> Decimal:
        """U of a delivery with this KPI; raises ``AnchorsUnusable`` where the ends coincide."""
        return uplift(kpi, self.kpi_baseline, self.kpi_reference)

    def figures_of(
        self, kind: str, kpi: float, *, contact_cost: Decimal | None, incidents: Sequence[str]
    ) -> SolutionFigures:
        """A solution's figures on this task; ``contact_cost`` None: it was played without a conversation."""
        gained = self.uplift_of(kpi)
        score = None if contact_cost is None else adjusted(gained, incident=bool(incidents)) - contact_cost
        return SolutionFigures(kind, kpi, gained, score, tuple(incidents))


@dataclass(frozen=True, slots=True)
class AnchorsFile:
    """``release`` is the content hash of the scenario that was measured, ``package`` the version that measured it."""

    scenario: str
    release: str
    package: str
    tasks: Mapping[str, TaskAnchors]
    evidence: Evidence | None = None  #: of all tasks together, for everybody

    def of_release(self, release: str) -> Mapping[str, TaskAnchors]:
        """The tasks' anchors, or nothing when the scenario has changed since they were measured."""
        return self.tasks if self.release == release else {}


def _field(data: Mapping[str, Any], key: str, kind: type | tuple[type, ...], where: str) -> Any:
    value = data.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise AnchorsUnreadable(f"{where}.{key}: expected {kind}, found {value!r}")
    return value


def _kpi(data: Mapping[str, Any], key: str, where: str) -> float:
    value = float(_field(data, key, (int, float), where))
    if not math.isfinite(value):
        raise AnchorsUnreadable(f"{where}.{key}: expected a finite number, found {value!r}")
    return value


def _decimal(value: object, where: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AnchorsUnreadable(f"{where}: expected a number, found {value!r}")
    return Decimal(repr(value))


def _solution(data: object, where: str) -> SolutionFigures:
    if not isinstance(data, dict):
        raise AnchorsUnreadable(f"{where}: expected an object")
    score = data.get("score")
    return SolutionFigures(
        kind=_field(data, "kind", str, where),
        kpi=_kpi(data, "kpi", where),
        uplift=_decimal(data.get("uplift"), f"{where}.uplift"),
        score=None if score is None else _decimal(score, f"{where}.score"),
        incidents=tuple(str(name) for name in _field(data, "incidents", list, where)),
    )


def _task(data: object, where: str) -> TaskAnchors:
    if not isinstance(data, dict):
        raise AnchorsUnreadable(f"{where}: expected an object")
    solutions = _field(data, "solutions", dict, where)
    prices = _field(data, "prices", dict, where)
    return TaskAnchors(
        kpi_baseline=_kpi(data, "kpi_baseline", where),
        kpi_reference=_kpi(data, "kpi_reference", where),
        solutions={name: _solution(row, f"{where}.solutions.{name}") for name, row in solutions.items()},
        prices={fact: _decimal(price, f"{where}.prices.{fact}") for fact, price in prices.items()},
    )


def read_anchors(text: str) -> AnchorsFile:
    """Parse the file's text; raises ``AnchorsUnreadable``."""
    try:
        data = json.loads(text)
    except ValueError as problem:
        raise AnchorsUnreadable(f"not JSON: {problem}") from problem
    if not isinstance(data, dict):
        raise AnchorsUnreadable("expected an object")
    tasks = _field(data, "tasks", dict, "anchors")
    try:
        evidence = Evidence.from_json(data["evidence"]) if "evidence" in data else None
    except EvidenceUnreadable as problem:
        raise AnchorsUnreadable(str(problem)) from problem
    return AnchorsFile(
        scenario=_field(data, "scenario", str, "anchors"),
        release=_field(data, "release", str, "anchors"),
        package=_field(data, "package", str, "anchors"),
        tasks={name: _task(row, f"tasks.{name}") for name, row in tasks.items()},
        evidence=evidence,
    )


def write_anchors(anchors: AnchorsFile) -> str:
    """The file's text: sorted and indented, so that a re-measurement shows as a small difference."""
    evidence = {"evidence": anchors.evidence.as_json()} if anchors.evidence else {}
    data = {
        "scenario": anchors.scenario,
        "release": anchors.release,
        "package": anchors.package,
        **evidence,
        "tasks": {
            name: {
                "kpi_baseline": task.kpi_baseline,
                "kpi_reference": task.kpi_reference,
                "solutions": {
                    solution: {
                        "kind": figures.kind,
                        "kpi": figures.kpi,
                        "uplift": float(figures.uplift),
                        "score": None if figures.score is None else float(figures.score),
                        "incidents": list(figures.incidents),
                    }
                    for solution, figures in sorted(task.solutions.items())
                },
                "prices": {fact: float(price) for fact, price in sorted(task.prices.items())},
            }
            for name, task in sorted(anchors.tasks.items())
        },
    }
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


__all__ = [
    "AnchorsFile",
    "AnchorsUnreadable",
    "AnchorsUnusable",
    "SolutionFigures",
    "TaskAnchors",
    "read_anchors",
    "write_anchors",
]
