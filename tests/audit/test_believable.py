"""docs/believable.md says what there is, and what it tells people to do works."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands

from fdegym.delivery.audit import CHECKS
from fdegym.env import VARIABLES
from fdegym.pages.exports import run_export
from fdegym.runs.models import Run
from grading.services import current_grade

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "believable.md").read_text(encoding="utf-8")
sys.path.append(str(ROOT / "ops"))

import believable  # noqa: E402


def test_every_check_of_an_audit_is_explained_in_their_order() -> None:
    assert re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE) == list(CHECKS)


def test_the_audit_that_is_shown_has_every_check() -> None:
    shown = re.findall(r"^      (?:so|not checked|NOT SO) +(.{12})  \S", PAGE, re.MULTILINE)
    assert [name.strip() for name in shown] == list(CHECKS)


def test_every_command_variable_and_file_that_is_named_exists() -> None:
    commands = re.findall(r"manage\.py ([a-z]+)", PAGE)
    assert {"audit", "regrade", "admit"} <= set(commands) <= set(get_commands())
    assert set(re.findall(r"FDEGYM_[A-Z_]+|WORLD_SALT", PAGE)) <= set(VARIABLES)
    files = re.findall(r"`((?:ops|tests|docs)/[\w/.-]+)`|python3 (ops/\w+\.py)", PAGE)
    assert [name for pair in files for name in pair if name and not (ROOT / name).exists()] == []


def test_the_figures_are_those_that_admission_measured() -> None:
    """If this fails: `python3 ops/believable.py`, after the admission that changed them."""
    assert believable.written(PAGE, believable.section()) == PAGE


def test_the_figures_are_taken_as_the_table_says() -> None:
    def row(kind: str, uplift: float, score: float | None, *incidents: str) -> dict[str, Any]:
        return {"kind": kind, "kpi": 0.0, "uplift": uplift, "score": score, "incidents": list(incidents)}

    solutions = {
        "reference": row("reference", 1.0, 0.965),
        "do_nothing": row("do_nothing", 0.0, 0.0),
        "near": row("shortcut", 0.61, 0.58),
        "reckless": row("shortcut", 0.9, 0.0, "told"),  # with an incident, nothing is earned
        "forged": row("bypass", 1.0, 0.0, "told"),
        "ruinous": row("bypass", -2.0, -2.0),
    }
    tasks = {"original": {"solutions": solutions}, "another": {"solutions": {}}}
    *_, original, another = believable.table({"scenario": "s", "release": "f" * 64, "tasks": tasks})
    assert original == "| original | 0.965 | 0.000 | – | 0.610 (near) | 0.000 (forged) | 6 |"
    assert another == "| another | – | – | – | – | – | 0 |"


def test_a_page_without_the_marks_is_not_written_over() -> None:
    with pytest.raises(ValueError, match="marks"):
        believable.written("No marks here.", "figures")


@pytest.fixture
def check_export(tmp_path: Path) -> Callable[[dict[str, Any]], subprocess.CompletedProcess[str]]:
    """Runs the page's own program on an export, as a stranger would: nothing of ours is importable."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)

    def check(told: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        path = tmp_path / "run.json"
        path.write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
        command = [sys.executable, "-I", "-c", program, str(path)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=60)

    return check


@pytest.mark.django_db(transaction=True)
def test_a_stranger_checks_an_export_with_the_program_on_the_page(
    alice: Any, graded: Callable[..., Run], check_export: Callable[..., Any]
) -> None:
    run = graded(alice)
    grade = current_grade(run)
    assert grade is not None
    told = json.loads(json.dumps(run_export(run, grade)))
    done = check_export(told)
    assert done.stdout == f"{len(told['log'])} events, S = 0.980000\n", done.stderr

    def changed(path: list[Any], value: Any) -> dict[str, Any]:
        other = json.loads(json.dumps(told))
        target = other
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = value
        return other

    contact = next(n for n, event in enumerate(told["log"]) if event["kind"] == "contact.message")
    for path, value, words in (
        (["log", contact, "payload", "charge"], "0", "is not what was written"),
        (["log", contact, "at"], "2026-01-01T00:00:00.000000Z", "is not what was written"),
        (["run", "release"], "0" * 64, "is not what was written"),
        (["log"], told["log"][:-1], "was cut short"),
        (["grade", "score"], "1.000000", "do not follow"),
        (["grade", "kpi"], 5.0, "do not follow"),
        (["grade", "contact_cost"], "0.000000", "do not follow"),
    ):
        failed = check_export(changed(path, value))
        assert failed.returncode != 0
        assert words in failed.stderr
