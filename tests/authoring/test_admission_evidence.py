"""What an admission says to everybody: counts over all tasks, and no name of a task or a solution."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from fdegym.authoring.admission.evidence import evidence_of
from fdegym.authoring.admission.findings import Finding
from grading.evidence import Bound, Evidence, EvidenceUnreadable, Held
from scenarios.kit.load import load_scenario
from scenarios.kit.solutions import solution_names
from tests.authoring.test_admission_conditions import TASKS, figures, good, played
from tests.authoring.toy import write_toy

ON = date(2026, 11, 30)
MATCHER = {
    "gates right": {"value": 0.98, "of": 50, "least": 0.97},
    "answered though fishing": {"value": 0.0, "of": 9, "most": 0.05},
}


def found(folder: Path, **changes) -> Evidence:
    scenario = load_scenario(folder)
    what = good(scenario)
    for place, figure in changes.items():
        task, name = place.split("__")
        what[task][name] = figure
    findings = [
        Finding("matcher", "", True, MATCHER),
        *(Finding("leaks", task, task != "fee") for task in TASKS),
        Finding("battery fork_bomb", "original", True),
        Finding("battery clock", "original", False),
    ]
    return evidence_of(played(scenario, what), findings, ON)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_toy(tmp_path)


def test_each_anchor_is_counted_over_the_tasks(folder: Path) -> None:
    evidence = found(folder, kept__reference=figures("reference", "0.9"))
    assert evidence.tasks == 3
    by_words = {one.what: (one.holds, one.of) for one in evidence.anchors}
    (reference,) = (count for words, count in by_words.items() if words.startswith("The reference"))
    (nothing,) = (count for words, count in by_words.items() if words.startswith("Doing nothing"))
    assert (reference, nothing) == ((2, 3), (3, 3))


def test_checks_are_counted_over_their_findings_and_the_battery_as_one(folder: Path) -> None:
    counts = [(one.holds, one.of) for one in found(folder).checks]
    assert counts == [(2, 3), (1, 2)]


def test_strategies_are_counted_by_kind_and_the_matchers_figures_keep_their_bounds(folder: Path) -> None:
    evidence = found(folder)
    assert sum(evidence.strategies.values()) == sum(
        kind in ("shortcut", "bypass", "ablation") for kind in solution_names(load_scenario(folder)).values()
    )
    gates, fishing = evidence.matcher
    assert (gates.least, gates.most, gates.met) == (0.97, None, True)
    assert (fishing.least, fishing.most, fishing.met) == (None, 0.05, True)
    assert not Bound("gates right", 0.9, 50, least=0.97).met


def test_no_task_and_no_solution_is_named(folder: Path) -> None:
    scenario = load_scenario(folder)
    text = json.dumps(found(folder).as_json())
    names = {*scenario.task_ids, *solution_names(scenario)} - {"reference", "literal", "original"}
    assert [name for name in names if name in text] == []


def test_what_was_written_is_read_back(folder: Path) -> None:
    evidence = found(folder)
    assert Evidence.from_json(json.loads(json.dumps(evidence.as_json()))) == evidence


@pytest.mark.parametrize(
    "change",
    [{"admitted_on": "yesterday"}, {"tasks": "many"}, {"anchors": [{"holds": 1}]}, {"matcher": 3}, {"strategies": []}],
    ids=lambda change: next(iter(change)),
)
def test_what_is_no_evidence_is_refused_with_its_place(folder: Path, change: dict) -> None:
    with pytest.raises(EvidenceUnreadable, match="evidence"):
        Evidence.from_json({**found(folder).as_json(), **change})
    with pytest.raises(EvidenceUnreadable):
        Evidence.from_json([Held("x", 1, 1)])
