"""The scenario's side of a trial: its own period, its own function, in the sandbox and within the limits of a grade."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from grading.frames import Frame
from grading.measure import try_system
from grading.replay import ReplayVoid
from grading.requests import Found, RequestProblem, parse_request
from grading.worlds import ensure_world, grading_runtime
from scenarios.kit.load import find_scenario
from tests.grading.sides import TINY


@pytest.fixture
def system(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TINY / "system", tmp_path / "system"))


def tried(trying: Path, system: Path, **callbacks: Any) -> Any:
    return try_system(ensure_world(find_scenario(trying.name, [trying.parent]), "original"), system, **callbacks)


@pytest.mark.sandbox
def test_a_trial_calls_the_system_on_its_own_period_and_gives_findings(trying: Path, system: Path) -> None:
    steps: list[str] = []
    progress: list[tuple[int, int]] = []
    found = tried(
        trying, system, on_step=steps.append, progress=lambda done, total, what: progress.append((done, total))
    )
    assert found.findings == (("wrong", {"evenings": 3, "evening": ["the first evening"]}),)
    assert (found.calls, found.failures["record"]["failed"]) == (6, 0)
    assert steps == ["copy", "start"]
    assert progress[0] == (0, 3)
    assert grading_runtime().adopt({"purpose": "grade"}) == []


@pytest.mark.sandbox
def test_what_the_system_does_wrong_is_its_own_and_the_trial_ends(trying: Path, system: Path) -> None:
    (system / "shop" / "record.py").write_text("raise SystemExit(3)\n")
    (system / "shop" / "total.py").write_text("while True:\n    pass\n")
    scenario = trying / "scenario.toml"
    scenario.write_text(scenario.read_text().replace("call_cpu_s = 2", "call_cpu_s = 1"))
    found = tried(trying, system)
    assert found.findings == (("missing", {"evenings": 3}),)
    assert found.failures["record"]["failures"] == {"exit": 3}
    assert found.failures["total"]["failures"] == {"cpu_limit": 3}


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("file", "code", "words"),
    [
        ("grader.py", "def trial(production, host):\n    raise KeyError('cedar')\n", "KeyError: 'cedar'"),
        ("grader.py", "def trial(production, host):\n    return [('wrong', {'evenings': 1.5})]\n", "whole number"),
        ("grader.py", "def trial(production, host):\n    return 3\n", "TypeError"),
        ("world.py", "del shadow\n", "shadow"),
    ],
)
def test_what_the_scenario_does_wrong_is_our_fault(
    file: str, code: str, words: str, trying: Path, system: Path
) -> None:
    (trying / file).write_text(f"{(trying / file).read_text()}\n\n{code}")
    with pytest.raises(ReplayVoid) as void:
        tried(trying, system)
    assert words in void.value.detail
    assert not void.value.retry


def found(findings: Any) -> Frame:
    return Frame({"op": "found", "findings": findings}, b"")


def test_findings_come_over_the_wire_as_they_were_given() -> None:
    row = ["not_mine", {"pages": 21, "team": ["Ledger", "Intake"], "site": "Toronto"}]
    assert parse_request(found([row, ["quiet", {}]])) == Found((tuple(row), ("quiet", {})))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "findings",
    [
        None, "wrong", {"wrong": {}}, ["wrong"], [["wrong"]], [["wrong", {}, 1]], [["wrong", []]], [[1, {}]],
        [["wrong", {"pages": 1.5}]], [["wrong", {"pages": -1}]], [["wrong", {"pages": True}]], [["wrong", {"pages": None}]],
        [["wrong", {"pages": {"a": 1}}]], [["wrong", {"pages": [1]}]], [["w" * 101, {}]], [["wrong", {"team": "x" * 201}]],
        [["wrong", {"team": ["x"] * 11}]], [["wrong", {str(n): 1 for n in range(11)}]], [["wrong", {}]] * 101,
        [["wr\ud800ng", {}]], [["wrong", {"team": "a\x00b"}]],
    ],
)  # fmt: skip
def test_findings_out_of_bounds_are_refused(findings: Any) -> None:
    with pytest.raises(RequestProblem):
        parse_request(found(findings))
