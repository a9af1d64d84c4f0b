"""Admitting scenarios: what is kept is taken, the rest is played, everything is judged."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fdegym.authoring.admission.conditions import Played
from fdegym.authoring.admission.evidence import BATTERY
from fdegym.authoring.admission.findings import Finding
from fdegym.authoring.admission.place import alone
from fdegym.authoring.admission.plays import Kept
from fdegym.authoring.admission.pool import Done, services, work_through
from fdegym.authoring.admission.progress import Progress
from fdegym.authoring.admission.registry import all_checks
from fdegym.authoring.admission.report import Report
from fdegym.authoring.admission.store import Store
from fdegym.authoring.admission.work import CHECK, ENDS, PLAY, Item, ends_of, plan
from fdegym.lib.errors import FdegymError
from grading.anchors import TaskAnchors
from grading.score import AnchorsUnusable
from scenarios.kit.load import Scenario
from scenarios.kit.solutions import solution_names


class NameUnknown(FdegymError):
    """No scenario has a solution, and admission no check, of this name."""

    http_status = 404


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an admission is asked for: its scenarios with the tasks of each, and how."""

    scenarios: Sequence[tuple[Scenario, tuple[str, ...]]]
    jobs: int
    only: frozenset[str] = frozenset()  #: names of solutions and checks; empty: all
    fresh: bool = False


def wanted_of(
    scenarios: Iterable[Scenario], tasks: Sequence[str], only: Sequence[str], jobs: int | None, fresh: bool
) -> Wanted:
    """No ``tasks`` are all of them, no ``only`` is everything. ``only`` are names of solutions and checks, or ``plays``,
    ``checks``, ``battery``; with a solution the two ends of U are played.

    Raises ``TaskUnknown`` or ``NameUnknown`` for what a scenario does not have.
    """
    chosen = []
    names: set[str] = set()
    for scenario in scenarios:
        for task in tasks:
            scenario.facts_of(task)
        groups = _groups(scenario)
        known = set[str]().union(*groups.values())
        if unknown := sorted(set(only) - known - set(groups)):
            raise NameUnknown(f"{scenario.id} has no solution or check {', '.join(unknown)}.")
        names |= set[str]().union(*(groups.get(name, {name}) for name in only))
        chosen.append((scenario, tuple(task for task in scenario.task_ids if task in tasks or not tasks)))
    if any(names & set(solution_names(scenario)) for scenario, _ in chosen):
        names |= {"do_nothing", "reference"}
    return Wanted(chosen, jobs or len(os.sched_getaffinity(0)), frozenset(names), fresh)


def _groups(scenario: Scenario) -> dict[str, set[str]]:
    """What may be asked for by one word: all plays, all checks, the battery."""
    checks = {check.name for check in all_checks()}
    battery = {name for name in checks if name.startswith(BATTERY)}
    return {"plays": set(solution_names(scenario)), "checks": checks - battery, "battery": battery}


def admit(wanted: Wanted) -> list[Report]:
    """Play, check and judge. Raises ``AdmissionRunning`` or ``HostFailed``; interrupted, it keeps what is finished."""
    with alone() as place:
        store = Store(place)
        taken = store.durations()
        items = [
            replace(item, seconds=taken.get(item.label, item.seconds))
            for scenario, tasks in wanted.scenarios
            for item in plan(scenario, tasks)
            if not wanted.only or item.name in wanted.only
        ]
        done = {}
        for item in items:
            result = None if wanted.fresh else store.find(item)
            if result is not None:
                done[item] = Done(item, result, "", 0.0)
        missing = [item for item in items if item not in done]
        if missing:
            done |= _do(missing, place, store, wanted.jobs)
        store.forget_unasked()
    return [
        _judged(scenario, tasks, done.values(), whole=not wanted.only and set(tasks) == set(scenario.task_ids))
        for scenario, tasks in wanted.scenarios
    ]


def _do(missing: list[Item], place: Path, store: Store, jobs: int) -> dict[Item, Done]:
    """Do these items and keep every result at once."""
    ends = ends_of(missing)
    todo = [*ends, *missing]
    progress = Progress(len(todo), sum(item.seconds for item in todo))
    done: dict[Item, Done] = {}
    durations: dict[str, float] = {}
    try:
        spoken_to = sorted({item.scenario for item in missing if item.speaks})
        with services(place, spoken_to, progress.note):
            progress.begin()
            for one in work_through(todo, place, jobs):
                if one.result is not None and _lasts(one.item, one.result):
                    store.keep(one.item, one.result, one.seconds)
                if one.result is not None:
                    durations[one.item.label] = one.seconds
                done[one.item] = one
                progress.done(one.item.label, one.item.seconds, seconds=one.seconds, failed=one.failed)
    finally:
        progress.close()
        store.note_durations(durations)
    return done


def _lasts(item: Item, result: Mapping[str, Any]) -> bool:
    """Whether a result is kept. What failed is done anew: the reason may have been this hour's machine."""
    return item.part != ENDS and all(finding["passed"] for finding in result.get("findings", ()))


def _judged(scenario: Scenario, tasks: tuple[str, ...], done: Iterable[Done], *, whole: bool) -> Report:
    mine = [one for one in done if one.item.scenario == scenario.id]
    plays = {(one.item.task, one.item.name): one for one in mine if one.item.part == PLAY}
    anchors: dict[str, TaskAnchors] = {}
    unplayed = {key: one.failed for key, one in plays.items() if one.result is None and not one.busy}
    unmeasured = {(one.item.task, one.item.name): one.failed for one in mine if one.busy and one.item.part != ENDS}
    kpis: dict[tuple[str, str], float] = {}
    for task in tasks:
        kept = {name: Kept.from_json(one.result) for (on, name), one in plays.items() if on == task and one.result}
        try:
            anchors[task] = _anchors(scenario, kept)
        except (KeyError, AnchorsUnusable) as problem:
            if not any(on == task for on, _ in plays):
                continue  # nothing but checks was asked for
            if isinstance(problem, AnchorsUnusable) or (task, problem.args[0]) not in unmeasured:
                words = str(problem) if isinstance(problem, AnchorsUnusable) else f"there is no play of {problem}"
                unplayed[task, ""] = f"U cannot be told: {words}"
            kpis |= {(task, name): one.kpi for name, one in kept.items()}
            anchors[task] = TaskAnchors(0.0, 0.0)
    findings, unfound = [], {}
    for one in mine:
        if one.item.part == CHECK and one.result is not None:
            findings += [Finding.from_json(row) for row in one.result["findings"]]
        elif one.item.part == CHECK and not one.busy:
            unfound[one.item.label.removeprefix(f"{scenario.id} · ")] = one.failed
    findings.sort(key=lambda finding: finding.check)
    return Report(Played(scenario, anchors, unplayed, unmeasured, kpis), findings, unfound, whole)


def _anchors(scenario: Scenario, kept: dict[str, Kept]) -> TaskAnchors:
    """The figures of a task: its two ends, and U of every play between them."""
    ends = TaskAnchors(kept["do_nothing"].kpi, kept["reference"].kpi)
    kinds = solution_names(scenario)
    solutions = {
        name: ends.figures_of(kinds[name], one.kpi, contact_cost=one.contact_cost, incidents=one.incidents)
        for name, one in kept.items()
    }
    return TaskAnchors(ends.kpi_baseline, ends.kpi_reference, solutions)
