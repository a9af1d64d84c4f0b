"""A trial with nothing staged: asked for inside a real workspace, run in the real sandbox of grades; and played."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def told() -> Iterator[dict[str, Any]]:
    place = Path(tempfile.mkdtemp(prefix="fdtrial-", dir="/tmp"))  # short: unix sockets lie below it
    (place / "scenarios").mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
        "FDEGYM_VAR": str(place / "var"),
        "FDEGYM_SOCKETS": str(place / "s"),
        "SCENARIO_DIRS": str(place / "scenarios"),
        "FDEGYM_SECRET_KEY": "k" * 60,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    (place / "var").mkdir(mode=0o700)
    try:
        script = [sys.executable, str(Path(__file__).with_name("whole_trial.py"))]
        done = subprocess.run(script, env=environment, capture_output=True, text=True, timeout=500, check=False)
        logs = "".join(path.read_text()[-2000:] for path in (place / "var" / "logs").glob("*"))
        assert done.returncode == 0, done.stderr[-4000:] + logs
        yield json.loads(done.stdout.splitlines()[-1])
    finally:
        shutil.rmtree(place, ignore_errors=True)


def test_ask_reports_what_people_noticed_of_the_system_as_it_stands(told: dict[str, Any]) -> None:
    as_found, right, none_left, history = told["asked"]["answers"]
    assert as_found[0] == right[0] == 0
    assert as_found[1] == "The trial run:\n  Ada: three totals did not fit the cash box, the first evening for one.\n"
    assert right[1] == "The trial run:\n  Ada: the totals fitted the cash box.\n"
    assert "your system is being tried" in as_found[2]
    assert none_left[0] == 1
    assert "There is no trial left" in none_left[2]
    assert history[1].count("The trial run:") == 2


def test_each_is_charged_and_nothing_in_the_workspace_ends(told: dict[str, Any]) -> None:
    assert told["asked"]["charges"] == ["0.03", "0.05"]
    assert told["asked"]["goes_on"] == "alive"
    assert not [name for name in told["left"] if name.startswith(".")]
    assert len(told["left"]) == 1  # what play submitted; the copies of the trials are gone


def test_a_solution_with_a_trial_in_its_conversation_is_played(told: dict[str, Any]) -> None:
    played = told["played"]
    assert (played["kpi"]["delivered"], played["contact_cost"]) == (10.0, 0.03)
    assert [(row["what"], row["charge"]) for row in played["contacts"]] == [("trial", "0.03")]
