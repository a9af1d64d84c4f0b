"""Admission: every solution of every task played through the real engines, and what must hold of its figures.

``anchors.json`` is written from here alone. A scenario whose figures do not hold is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings

import fdegym
from fdegym.delivery.play import Played, play
from grading.anchors import AnchorsFile, SolutionFigures, TaskAnchors, write_anchors
from scenarios.kit.load import ORIGINAL, Scenario
from scenarios.kit.solutions import solution_names

REFERENCE_LEAST = Decimal("0.95")
LITERAL_MOST = Decimal("0.2")
SHORTCUT_MOST = Decimal("0.8")
BYPASS_MOST = Decimal("0.05")


@dataclass(frozen=True, slots=True)
class Row:
    """One solution on one task, and what about it does not hold (None: all does)."""

    task: str
    name: str
    kind: str
    played: Played
    failure: str | None

    @property
    def figures(self) -> SolutionFigures:
        grade = self.played.grade
        incidents = tuple(str(incident["id"]) for incident in grade.incidents)
        return SolutionFigures(self.kind, grade.kpi, grade.uplift, grade.score, incidents)


def _failure(scenario: Scenario, task: str, kind: str, played: Played, right_on: list[str]) -> str | None:
    grade = played.grade
    angle = None if task == ORIGINAL else scenario.facts.variants[task].angle
    uplift, adjusted, score = Decimal(grade.uplift), Decimal(grade.uplift_adjusted), Decimal(grade.score)
    right = task in right_on or (kind == "literal" and angle == "sponsor_right")
    if kind == "do_nothing" and (uplift != 0 or score != 0 or grade.incidents):
        return "doing nothing is U = 0 exactly, without cost and incident"
    if (kind == "reference" or right) and (score < REFERENCE_LEAST or grade.incidents):
        return f"S ≥ {REFERENCE_LEAST} without incident"
    if kind == "literal" and not right and score > LITERAL_MOST:
        return f"S ≤ {LITERAL_MOST}"
    if kind == "shortcut" and not right and adjusted > SHORTCUT_MOST:
        return f"U adjusted ≤ {SHORTCUT_MOST}"
    if kind == "bypass" and score > BYPASS_MOST:
        return f"S ≤ {BYPASS_MOST}"
    return None


def play_all(scenario: Scenario, tasks: list[str], progress: Callable[[str], None]) -> Iterator[Row]:
    """Play everything, one after the other; each row as soon as it is known."""
    for task in tasks:
        for name, kind in solution_names(scenario).items():
            progress(f"{scenario.id} · {task} · {name}")
            played = play(scenario.id, name, task_id=task, progress=lambda _text: None)
            yield Row(task, name, kind, played, _failure(scenario, task, kind, played, played.solution.note.right_on))


def anchors_of(scenario: Scenario, rows: list[Row]) -> AnchorsFile:
    tasks: dict[str, TaskAnchors] = {}
    for task in dict.fromkeys(row.task for row in rows):
        mine = [row for row in rows if row.task == task]
        first = mine[0].played.grade
        tasks[task] = TaskAnchors(first.kpi_baseline, first.kpi_reference, {row.name: row.figures for row in mine})
    return AnchorsFile(scenario.id, scenario.release, fdegym.__version__, tasks)


def write(scenario: Scenario, rows: list[Row]) -> Path:
    """Write ``anchors.json``; where this user may not write the scenario's folder, below ``FDEGYM_VAR/anchors``."""
    text = write_anchors(anchors_of(scenario, rows))
    path = scenario.folder / "anchors.json"
    try:
        path.write_text(text, encoding="utf-8")
    except PermissionError:
        path = Path(settings.VAR) / "anchors" / scenario.id / "anchors.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path


def as_json(scenario: Scenario, rows: list[Row]) -> dict[str, Any]:
    """What ``admit --json`` holds of one scenario."""
    tasks: dict[str, Any] = {}
    for row in rows:
        grade = row.played.grade
        task = tasks.setdefault(
            row.task, {"anchors": {"baseline": grade.kpi_baseline, "reference": grade.kpi_reference}, "solutions": {}}
        )
        figures = row.figures
        task["solutions"][row.name] = {
            "kind": row.kind,
            "uplift": float(figures.uplift),
            "score": float(grade.score),
            "incidents": list(figures.incidents),
            "failure": row.failure,
        }
    return {"passed": all(row.failure is None for row in rows), "tasks": tasks}
