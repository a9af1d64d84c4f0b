"""What an admission says and writes: a table for people, JSON for programs, ``anchors.json`` for the grader."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from fdegym.authoring.admission.conditions import (
    Failure,
    Played,
    ablations_of,
    failures,
    prices,
    sort_failures,
    with_prices,
)
from fdegym.authoring.admission.evidence import BATTERY, evidence_of
from fdegym.authoring.admission.findings import Finding
from fdegym.authoring.checks.matcher import ship_matcher
from grading.anchors import AnchorsFile, SolutionFigures, write_anchors
from grading.score import adjusted
from grading.versions import package_version
from scenarios.kit.load import Scenario
from scenarios.kit.solutions import solution_names

#: Judged by S, with their conversation's cost; all others by U adjusted.
JUDGED_BY_SCORE = ("do_nothing", "reference", "literal", "bypass")
CELL = 9


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that an admission found out about a scenario. ``whole``: nothing was left out."""

    played: Played
    findings: Sequence[Finding]
    unfound: Mapping[str, str] = field(default_factory=dict)  #: label of a check that ended without finding → why
    whole: bool = True

    @property
    def scenario(self) -> Scenario:
        return self.played.scenario

    def failures(self) -> list[Failure]:
        found = failures(self.played, whole=self.whole)
        found += [
            Failure(finding.task, finding.check, finding.words or "does not hold")
            for finding in self.findings
            if not finding.passed
        ]
        found += [Failure("", label, words) for label, words in self.unfound.items()]
        return sort_failures(found, list(self.played.tasks))

    def unmeasured(self) -> list[Failure]:
        """What is neither met nor unmet: the host was busy."""
        found = [Failure(task, name, words) for (task, name), words in self.played.unmeasured.items()]
        return sort_failures(found, list(self.played.tasks))

    @property
    def holds(self) -> bool:
        """Whether everything that was asked for was measured and is met."""
        return not self.failures() and not self.unmeasured()

    def as_json(self) -> dict[str, Any]:
        found = self.failures()
        return {
            "passed": self.holds,
            "whole": self.whole,
            "release": self.scenario.release,
            "failures": [{"task": one.task, "name": one.name, "words": one.words} for one in found],
            "unmeasured": [{"task": one.task, "name": one.name, "words": one.words} for one in self.unmeasured()],
            "tasks": {task: self._task(task) for task in self.played.tasks},
            "checks": [finding.as_json() for finding in self.findings if finding.check != "matcher"],
            "matcher": next((dict(one.figures) for one in self.findings if one.check == "matcher"), {}),
        }

    def _task(self, task: str) -> dict[str, Any]:
        anchors = self.played.tasks[task]
        return {
            "anchors": {"baseline": anchors.kpi_baseline, "reference": anchors.kpi_reference},
            "solutions": {
                name: {
                    "kind": figures.kind,
                    "kpi": figures.kpi,
                    "uplift": float(figures.uplift),
                    "uplift_adjusted": float(_earned(figures)),
                    "score": None if figures.score is None else float(figures.score),
                    "incidents": list(figures.incidents),
                }
                for name, figures in anchors.solutions.items()
            },
            "prices": {fact: float(price) for fact, price in prices(self.played, task).items()},
        }


def _earned(figures: SolutionFigures) -> Any:
    return adjusted(figures.uplift, incident=bool(figures.incidents))


def table(report: Report) -> Iterator[str]:
    """The scenario's table, line by line: tasks × solutions, the prices of its rules, the checks, what fails."""
    tasks = list(report.played.tasks)
    kinds = solution_names(report.scenario)
    played = report.played
    names = [name for name in kinds if any(name in played.tasks[task].solutions for task in tasks)]
    others = [name for _, name in [*played.kpis, *played.unplayed, *played.unmeasured] if name]
    names += [name for name in kinds if name in others and name not in names]
    width = max(len(name) for name in [*names, "key fact F00 is worth"]) + 2
    column = max([CELL, *(len(task) + 2 for task in tasks)])
    failing = {(one.task, one.name) for one in report.failures()}
    yield f"{report.scenario.id}, release {report.scenario.release[:12]}"
    yield f"{'':<{width}}{'kind':<18}" + "".join(f"{task:>{column}}" for task in tasks)
    for name in names:
        cells = "".join(f"{_cell(report, task, name, failing):>{column}}" for task in tasks)
        yield f"{name:<{width}}{kinds.get(name, ''):<18}{cells}"
    yield "U adjusted; of reference, literal, do_nothing and bypasses S.   * an incident   ! does not hold   ? no figure"
    if played.kpis:
        unknown = ", ".join(dict.fromkeys(task for task, _ in played.kpis))
        yield f"On {unknown} U cannot be told: cells are the KPI itself, in {report.scenario.config.kpi.unit}."
    yield from _prices(report, tasks, width, column)
    yield from _findings(report)
    for failure in report.failures():
        yield f"FAILS  {failure}"
    for one in report.unmeasured():
        busy = replace(one, words=f"the host was busy ({one.words}); the same command goes on where it was")
        yield f"not measured  {busy}"


def _cell(report: Report, task: str, name: str, failing: set[tuple[str, str]]) -> str:
    mark = "!" if (task, name) in failing else ""
    figures = report.played.tasks[task].solutions.get(name)
    if figures is None and (task, name) in report.played.kpis:
        return f"{report.played.kpis[task, name]:.6g} "
    if figures is None:
        return f"{mark}? " if (task, name) in {**report.played.unplayed, **report.played.unmeasured} else ""
    value = figures.score if figures.kind in JUDGED_BY_SCORE else _earned(figures)
    return f"{mark}{value:.3f}{'*' if figures.incidents else ' '}"


def _prices(report: Report, tasks: Sequence[str], width: int, column: int) -> Iterator[str]:
    worth = {task: prices(report.played, task) for task in tasks}
    wanted = {task: ablations_of(report.played, task) for task in tasks}
    for fact in sorted({fact for facts in wanted.values() for fact in facts}, key=lambda fact: (len(fact), fact)):
        cells = ""
        for task in tasks:
            price = worth[task].get(fact)
            none = "!? " if report.played.tasks[task].solutions else "? "  # of a task without U nothing has a price
            cell = f"{price:.3f} " if price is not None else none if fact in wanted[task] else ""
            cells += f"{cell:>{column}}"
        yield f"{f'key fact {fact} is worth':<{width}}{'':<18}{cells}"


def _findings(report: Report) -> Iterator[str]:
    """A line for each finding; of the battery's entries only those that were not withstood."""
    battery = [finding for finding in report.findings if finding.check.startswith(BATTERY)]
    if battery:
        yield f"{'battery':<24}{'':<14}{sum(one.passed for one in battery)} of {len(battery)} entries withstood"
    for finding in report.findings:
        if finding in battery and finding.passed:
            continue
        figures = ", ".join(f"{name} {_short(value)}" for name, value in finding.figures.items())
        mark = "holds" if finding.passed else "FAILS"
        yield f"{finding.check:<24}{finding.task:<14}{mark:<7}{figures or finding.words}"


def _short(value: Any) -> str:
    """A figure in a line; of nested ones the value, or how many there are."""
    if isinstance(value, Mapping):
        return _short(value["value"]) if "value" in value else f"({len(value)})"
    if isinstance(value, list | tuple):
        return f"({len(value)})" if len(value) > 6 else " ".join(_short(one) for one in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def write(report: Report) -> Path:
    """Write ``anchors.json`` and beside it what the matcher learnt; where this user may not write the scenario's folder,
    below ``FDEGYM_VAR/anchors``. Returns the anchors' path.
    """
    scenario = report.scenario
    evidence = evidence_of(report.played, report.findings, datetime.now(tz=UTC).date())
    tasks = with_prices(report.played)
    text = write_anchors(AnchorsFile(scenario.id, scenario.release, package_version(), tasks, evidence))
    try:
        (scenario.folder / "anchors.json").write_text(text, encoding="utf-8")
        folder = scenario.folder
    except OSError as problem:
        if problem.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        folder = Path(settings.VAR) / "anchors" / scenario.id
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "anchors.json").write_text(text, encoding="utf-8")
    ship_matcher(scenario, folder)
    return folder / "anchors.json"
