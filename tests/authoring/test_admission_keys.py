"""What is played anew after a change: what the change decides, all of it, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fdegym.authoring.admission import work
from fdegym.authoring.admission.findings import Check, Finding
from fdegym.authoring.admission.work import check_key, play_key
from scenarios.kit.load import Scenario, load_scenario
from scenarios.kit.solutions import solutions_on
from tests.authoring.toy import NET, write_solution, write_toy

TASKS = ("original", "kept", "fee")
Keys = dict[tuple[str, str], str]
SILENT = Check("silent", "", lambda scenario, tasks: [Finding("silent", task, True) for task in tasks])
OF_REFERENCE = Check("of_reference", "", SILENT.run, solutions=("reference",))
OF_ALL = Check("of_all", "", SILENT.run, solutions=("*",))
SPOKEN = Check("spoken", "", SILENT.run, spoken=True)
DECIDED = Check("decided", "", SILENT.run, decided_by=lambda scenario: scenario.config.title)
CHECKS = (SILENT, OF_REFERENCE, OF_ALL, SPOKEN, DECIDED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The toy; its reference also writes to somebody, in words that a variant has of its own."""
    folder = write_toy(tmp_path)
    note = folder / "solutions" / "reference" / "solution.toml"
    note.write_text(note.read_text() + 'conversation = "own"\n')
    for place in ("reference", "reference/kept"):
        (folder / "solutions" / place / "conversation.toml").write_text('[[steps]]\nto = "ada"\ntext = "May I?"\n')
    write_solution(folder, "shortcuts/over", NET, why="Over the reference.", extends="reference")
    (folder / "phrasings.toml").write_text('[topics."ada/x"]\nexamples = ["a"]\ntests = ["b"]\n')
    return folder


def keys(scenario: Scenario) -> Keys:
    return {(task, name): play_key(scenario, task, name) for task in TASKS for name in solutions_on(scenario, task)}


def append(path: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        target = folder / path
        target.write_text(target.read_text() + "\n# changed\n")

    return change


def remove(path: str) -> Callable[[Path], None]:
    return lambda folder: (folder / path).unlink()


OVER_REFERENCE = {"reference", "over", "no_returns", "original_solution"}
EVERYTHING = None
SPEAK = {(task, "reference") for task in TASKS} | {(task, "original_solution") for task in ("kept", "fee")}


@pytest.mark.parametrize(
    ("change", "decides"),
    [
        (append("facts.toml"), EVERYTHING),
        (append("scenario.toml"), EVERYTHING),
        (append("stakeholders.toml"), EVERYTHING),
        (append("world.py"), EVERYTHING),
        (append("grader.py"), EVERYTHING),
        (append("system/shop/total.py"), EVERYTHING),
        (append("docs/book.md"), EVERYTHING),
        (append("briefs/L2.md"), EVERYTHING),
        (append("phrasings.toml"), SPEAK),
        (append("SOURCES.md"), set()),
        (append("anchors.json"), set()),
        (append("solutions/literal/system/shop/total.py"), {(task, "literal") for task in TASKS}),
        (append("solutions/shortcuts/over/system/shop/total.py"), {(task, "over") for task in TASKS}),
        (
            append("solutions/reference/system/shop/total.py"),
            {(task, name) for task in TASKS for name in OVER_REFERENCE} - {("original", "original_solution")},
        ),
        (
            append("solutions/reference/kept/system/shop/total.py"),
            {("kept", "reference"), ("kept", "no_returns")},
        ),
        (append("solutions/ablations/no_returns/fee/system/shop/total.py"), {("fee", "no_returns")}),
        (append("solutions/reference/kept/conversation.toml"), {("kept", "reference")}),
        (
            append("solutions/reference/conversation.toml"),
            {
                ("original", "reference"),
                ("fee", "reference"),
                ("kept", "original_solution"),
                ("fee", "original_solution"),
            },
        ),
        (
            remove("solutions/reference/kept/conversation.toml"),
            set(),  # the same words now come from the original's file
        ),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_change_is_played_anew_where_it_decides(
    folder: Path, change: Callable[[Path], None], decides: set[tuple[str, str]] | None
) -> None:
    (folder / "SOURCES.md").write_text("None.\n")
    (folder / "anchors.json").write_text("{}\n")
    before = keys(load_scenario(folder))
    change(folder)
    after = keys(load_scenario(folder))
    assert set(before) == set(after)
    changed = {place for place in before if before[place] != after[place]}
    assert changed == (set(before) if decides is None else decides)


def test_a_new_solution_is_played_and_no_other(folder: Path) -> None:
    before = keys(load_scenario(folder))
    write_solution(folder, "shortcuts/another", NET, why="Another.", on=["fee"])
    after = keys(load_scenario(folder))
    assert set(after) - set(before) == {("fee", "another")}
    assert before.items() <= after.items()


@pytest.mark.parametrize("what", ["replay_hash", "_play_hash"])
def test_other_code_or_libraries_play_everything_anew(folder: Path, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    scenario = load_scenario(folder)
    before = keys(scenario)
    monkeypatch.setattr(work, what, lambda: "other")
    assert not set(keys(scenario).values()) & set(before.values())


def test_another_engine_of_the_people_plays_anew_what_speaks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = load_scenario(folder)
    before = keys(scenario)
    monkeypatch.setattr(work, "_people_hash", lambda: "other")
    after = keys(scenario)
    assert {name for _, name in before if before[_, name] != after[_, name]} == {"reference", "original_solution"}


def test_salted_worlds_are_other_plays(folder: Path, settings) -> None:
    scenario = load_scenario(folder)
    before = keys(scenario)
    settings.WORLD_SALT = "pepper"
    assert not set(keys(scenario).values()) & set(before.values())


def test_no_two_plays_share_a_key(folder: Path) -> None:
    found = keys(load_scenario(folder))
    assert len(set(found.values())) == len(found)


@pytest.mark.parametrize(
    ("path", "decides"),
    [
        ("facts.toml", {"silent", "of_reference", "of_all", "spoken", "decided"}),
        ("phrasings.toml", {"of_all", "spoken"}),
        ("solutions/reference/system/shop/total.py", {"of_reference", "of_all"}),
        ("solutions/reference/kept/system/shop/total.py", {"of_all"}),
        ("solutions/literal/system/shop/total.py", {"of_all"}),
    ],
)
def test_a_check_is_done_anew_where_it_says_what_decides_it(folder: Path, path: str, decides: set[str]) -> None:
    before = {check.name: check_key(load_scenario(folder), "original", check) for check in CHECKS}
    append(path)(folder)
    after = {check.name: check_key(load_scenario(folder), "original", check) for check in CHECKS}
    assert {name for name in before if before[name] != after[name]} == decides


def test_a_check_of_all_tasks_depends_on_the_solution_on_each(folder: Path) -> None:
    before = check_key(load_scenario(folder), "", OF_REFERENCE)
    append("solutions/reference/kept/system/shop/total.py")(folder)
    assert check_key(load_scenario(folder), "", OF_REFERENCE) != before
