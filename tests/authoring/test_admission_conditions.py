"""What must hold of a scenario's figures: each condition broken once, and told in words that name task and solution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from fdegym.authoring.admission.admit import _judged
from fdegym.authoring.admission.conditions import Played, failures, prices
from fdegym.authoring.admission.findings import Finding
from fdegym.authoring.admission.pool import Done
from fdegym.authoring.admission.report import Report, table
from fdegym.authoring.admission.work import CHECK, PLAY, Item
from grading.anchors import SolutionFigures, TaskAnchors
from scenarios.kit.load import Scenario, load_scenario
from scenarios.kit.solutions import solutions_on
from tests.authoring.toy import NAME, NET, write_solution, write_toy

TASKS = ("original", "kept", "fee")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_toy(tmp_path)


def figures(kind: str, uplift: str, *, cost: str = "0", incident: str = "") -> SolutionFigures:
    earned = min(Decimal(uplift), Decimal(0)) if incident else Decimal(uplift)
    incidents = (incident,) if incident else ()
    return SolutionFigures(kind, float(uplift), Decimal(uplift), earned - Decimal(cost), incidents)


def good(scenario: Scenario) -> dict[str, dict[str, SolutionFigures]]:
    """Figures of the toy of which everything holds."""
    uplift = {"reference": "1", "always_net": "0.1", "no_returns": "0.3", "original_solution": "0.1"}
    found = {
        task: {name: figures(kind, uplift.get(name, "0")) for name, kind in solutions_on(scenario, task).items()}
        for task in TASKS
    }
    found["original"]["always_net"] = figures("shortcut", "0.9")
    return found


def played(scenario: Scenario, found: dict[str, dict[str, SolutionFigures]]) -> Played:
    return Played(scenario, {task: TaskAnchors(0.0, 1.0, solutions) for task, solutions in found.items()})


def broken(folder: Path, **changes: SolutionFigures) -> list[str]:
    """What fails when the figures of ``task__solution`` are these; all others are good."""
    scenario = load_scenario(folder)
    found = good(scenario)
    for place, figure in changes.items():
        task, name = place.split("__")
        found[task][name] = figure
    return [str(one) for one in failures(played(scenario, found), whole=True)]


def test_good_figures_fail_nothing(folder: Path) -> None:
    assert broken(folder) == []


@pytest.mark.parametrize(
    ("place", "figure", "words"),
    [
        ("kept__do_nothing", figures("do_nothing", "0.000001"), "kept · do_nothing: S is 0.000; who does nothing gets"),
        ("kept__do_nothing", figures("do_nothing", "0", cost="0.01"), "kept · do_nothing: S is -0.010"),
        ("kept__do_nothing", figures("do_nothing", "0", incident="letter"), "S is 0.000 (letter); who does nothing"),
        (
            "fee__reference",
            figures("reference", "1", cost="0.06"),
            "fee · reference: S is 0.940; the reference reaches",
        ),
        ("fee__reference", figures("reference", "1", incident="letter"), "S is 0.000 (letter); the reference reaches"),
        (
            "original__literal",
            figures("literal", "0.21"),
            "original · literal: S is 0.210; the request taken literally",
        ),
        ("kept__always_net", figures("shortcut", "0.81"), "kept · always_net: U adjusted is 0.810; a shortcut stays"),
        ("original__always_net", figures("shortcut", "0.8"), "its right_on says that it is right here"),
        ("kept__letter", figures("bypass", "0.06"), "kept · letter: S is 0.060; a bypass stays at or below 0.05"),
    ],
)
def test_a_figure_beyond_its_bound_is_named_with_task_and_solution(
    folder: Path, place: str, figure: SolutionFigures, words: str
) -> None:
    found = broken(folder, **{place: figure})
    assert len([one for one in found if words in one]) == 1, found


def test_bounds_themselves_hold(folder: Path) -> None:
    assert (
        broken(
            folder,
            fee__reference=figures("reference", "1", cost="0.05"),
            original__literal=figures("literal", "0.2"),
            kept__always_net=figures("shortcut", "0.8"),
            kept__letter=figures("bypass", "0.05"),
        )
        == []
    )


def test_where_the_sponsor_is_right_the_literal_delivery_is_held_to_the_reference(folder: Path) -> None:
    facts = folder / "facts.toml"
    facts.write_text(facts.read_text().replace('angle = "rule_value"', 'angle = "sponsor_right"', 1))
    assert broken(folder, kept__literal=figures("literal", "0.95")) == []
    (failure,) = broken(folder, kept__literal=figures("literal", "0.94"))
    assert "where the sponsor is right, the request taken literally reaches at least 0.95" in failure


def test_a_shortcut_that_is_good_on_the_whole_fails(folder: Path) -> None:
    found = broken(
        folder,
        original__always_net=figures("shortcut", "1"),
        kept__always_net=figures("shortcut", "0.8"),
        fee__always_net=figures("shortcut", "0.8"),
    )
    assert "always_net: its mean U adjusted over 3 tasks is 0.867; a shortcut's is at most 0.8" in found


def test_one_shortcut_must_be_good_here_and_bad_there(folder: Path) -> None:
    (failure,) = broken(folder, kept__always_net=figures("shortcut", "0.3"), fee__always_net=figures("shortcut", "0.3"))
    assert failure.startswith("no shortcut reaches 0.5 on one task and stays at or below 0.2 on another")


def test_the_originals_solution_may_not_do_for_the_variants(folder: Path) -> None:
    (failure,) = broken(folder, kept__original_solution=figures("original_solution", "0.61"))
    assert "original_solution: stays at or below 0.6 on 1 of 2 variants; at least 2 are wanted" in failure


def test_of_three_variants_three_angles_are_wanted(folder: Path) -> None:
    facts = folder / "facts.toml"
    config = folder / "scenario.toml"
    config.write_text(config.read_text().replace('"fee"]', '"fee", "third"]'))
    third = '\n[variants.third]\nangle = "rule_value"\ndiffers = "As kept."\nfacts = {}\nkey_facts = []\n'
    facts.write_text(facts.read_text() + third)
    assert any("the variants have 1 angle(s), rule_value; 3 are wanted" in one for one in broken(folder))


def test_a_task_that_is_not_offered_is_named(folder: Path) -> None:
    config = folder / "scenario.toml"
    config.write_text(config.read_text().replace('"original", "kept", "fee"', '"original", "fee"'))
    assert broken(folder) == ["`offered` of scenario.toml lacks kept: a scenario is admitted, and drawn from, whole"]


def test_a_key_fact_that_no_solution_lacks_is_named(folder: Path) -> None:
    note = folder / "solutions" / "ablations" / "no_returns" / "solution.toml"
    note.write_text(note.read_text() + 'on = ["original", "kept"]\n')
    (failure,) = broken(folder)
    assert failure.startswith("fee: no solution played here lacks the rule of key fact F1 alone")


def test_a_shortcut_that_ablates_counts_where_it_lies_over_the_tasks_own_reference(folder: Path) -> None:
    write_solution(folder, "shortcuts/half", NET, why="No returns.", extends="reference", ablates="F1")
    scenario = load_scenario(folder)
    found = good(scenario)
    for task in TASKS:
        found[task]["half"] = figures("shortcut", "0.7")
    assert prices(played(scenario, found), "original") == {"F1": Decimal("0.3")}
    assert prices(played(scenario, found), "kept") == {"F1": Decimal("0.7")}


def test_the_price_of_a_rule_is_what_the_best_delivery_without_it_misses(folder: Path) -> None:
    scenario = load_scenario(folder)
    found = good(scenario)
    found["fee"]["no_returns"] = figures("ablation", "0.9", incident="letter")
    assert prices(played(scenario, found), "original") == {"F1": Decimal("0.7")}
    assert prices(played(scenario, found), "fee") == {"F1": Decimal(1)}


def test_an_ablation_has_no_upper_bound(folder: Path) -> None:
    assert broken(folder, original__no_returns=figures("ablation", "0.99")) == []


def test_part_of_the_tasks_is_not_judged_as_a_whole(folder: Path) -> None:
    scenario = load_scenario(folder)
    found = {"kept": good(scenario)["kept"]}
    assert failures(played(scenario, found), whole=False) == []
    assert len(failures(played(scenario, found), whole=True)) == 2


# ---- the report


@pytest.fixture
def report(folder: Path) -> Callable[..., Report]:
    def make(**changes: Any) -> Report:
        scenario = load_scenario(folder)
        return replace(Report(played(scenario, good(scenario)), findings=()), **changes)

    return make


def test_the_table_has_a_line_for_each_solution_and_marks_what_fails(report: Callable[..., Report]) -> None:
    bad = report()
    bad.played.tasks["kept"].solutions["letter"] = figures("bypass", "0.3")  # type: ignore[index]
    lines = {line.split()[0]: line for line in table(bad) if line.strip()}
    assert "!0.300" in lines["letter"]
    assert lines["always_net"].split()[1:] == ["shortcut", "0.900", "0.100", "0.100"]
    assert lines["original_solution"].split()[1:] == ["original_solution", "0.100", "0.100"]
    assert lines["FAILS"] == "FAILS  kept · letter: S is 0.300; a bypass stays at or below 0.05"


def test_a_check_that_fails_or_comes_to_nothing_fails_the_admission(report: Callable[..., Report]) -> None:
    assert report().as_json()["passed"]
    findings = (Finding("leaks", "kept", False, {"places": 1}, "docs/book.md names the task."),)
    bad = report(findings=findings, unfound={"fee · spread": "The process that did it died."})
    row = bad.as_json()
    assert not row["passed"]
    assert {"task": "kept", "name": "leaks", "words": "docs/book.md names the task."} in row["failures"]
    assert any(one["name"] == "fee · spread" for one in row["failures"])
    assert "FAILS  kept · leaks: docs/book.md names the task." in list(table(bad))


def test_the_json_has_every_solution_of_every_task(report: Callable[..., Report]) -> None:
    row = report(findings=(Finding("matcher", "", True, {"right of answered": {"value": 1.0}}),)).as_json()
    assert list(row["tasks"]) == list(TASKS)
    fee = row["tasks"]["fee"]
    assert fee["anchors"] == {"baseline": 0.0, "reference": 1.0}
    assert fee["solutions"]["reference"]["score"] == fee["solutions"]["reference"]["uplift"] == 1.0
    assert fee["solutions"]["reference"]["kind"] == "reference"
    assert fee["prices"] == {"F1": 0.7}
    assert row["matcher"] == {"right of answered": {"value": 1.0}}


def test_what_could_not_be_played_is_a_failure_in_its_own_words(report: Callable[..., Report]) -> None:
    good_one = report()
    bad = replace(good_one, played=replace(good_one.played, unplayed={("fee", "literal"): "It was not graded."}))
    assert [str(one) for one in bad.failures()] == ["fee · literal: It was not graded."]


# ---- what this hour's machine had no time for, and tasks without U


def judged(folder: Path, *done: Done) -> Report:
    """What is made of these pieces of work; every other play of the toy went as it should."""
    scenario = load_scenario(folder)
    earned = {"reference": 1.0, "always_net": 0.1, "no_returns": 0.3}
    plays = {
        Item(scenario.id, PLAY, name, task, f"{task}-{name}", 1.0): 0.9
        if (task, name) == ("original", "always_net")
        else earned.get(name, 0.0)
        for task in TASKS
        for name in solutions_on(scenario, task)
    }
    told = {one.item.label for one in done}
    went = [
        Done(item, {"kpi": 100 * kpi, "contact_cost": "0", "incidents": []}, "", 1.0)
        for item, kpi in plays.items()
        if item.label not in told
    ]
    return _judged(scenario, TASKS, [*went, *done], whole=True)


def undone(name: str, words: str, *, busy: bool, part: str = PLAY) -> Done:
    return Done(Item(NAME, part, name, "original", "", 1.0), None, words, 1.0, busy)


def test_what_a_busy_host_had_no_time_for_fails_nothing_and_admits_nothing(folder: Path) -> None:
    desk = undone("original_on_none", "no grade on a host this busy", busy=True, part=CHECK)
    found = judged(folder, undone("letter", "the desk did not answer in time", busy=True), desk)
    assert found.failures() == []
    assert not found.holds
    lines = list(table(found))
    told = "the host was busy (the desk did not answer in time); the same command goes on where it was"
    assert f"not measured  original · letter: {told}" in lines
    assert not any(line.startswith("FAILS") for line in lines)
    row = found.as_json()
    assert not row["passed"]
    assert {one["name"] for one in row["unmeasured"]} == {"letter", "original_on_none"}


def test_a_reference_that_was_not_measured_for_lack_of_time_fails_nothing_either(folder: Path) -> None:
    found = judged(folder, undone("reference", "the desk did not answer in time", busy=True))
    assert found.failures() == []
    assert not found.holds


def test_without_a_reference_the_table_has_the_kpis_and_no_row_without_a_name(folder: Path) -> None:
    found = judged(folder, undone("reference", "It was not graded.", busy=False))
    lines = list(table(found))
    rows = {line.split()[0]: line.split() for line in lines if line.strip()}
    assert rows["reference"][2:] == ["!?", "1.000", "1.000"]
    assert rows["always_net"][2:] == ["90", "0.100", "0.100"]
    assert not any("!?" in line and line[0] == " " for line in lines)
    assert any(line.startswith("On original U cannot be told: cells are the KPI itself, in ") for line in lines)
    assert [str(one) for one in found.failures()] == [
        "original · reference: It was not graded.",
        "original: U cannot be told: there is no play of 'reference'",
    ]
