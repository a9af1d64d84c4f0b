"""The battery against a stall with a table and a summary every evening, in a process with services of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.stack import CHECKOUT, clean_environment, own_directory
from workspaces.services import sandbox_report

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def var() -> Iterator[Path]:
    directory = own_directory("fdb-")
    yield directory / "var"
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(scope="module")
def played(var: Path) -> Callable[[list[str]], dict[str, dict[str, Any]]]:
    """``played(["fork_bomb", …])``: what came of each entry, by name."""
    report = sandbox_report()
    if not report.usable:
        pytest.skip(report.problem or "no sandbox")

    def play(wanted: list[str]) -> dict[str, dict[str, Any]]:
        environment = clean_environment(
            FDEGYM_VAR=str(var),
            SCENARIO_DIRS=str(HERE),
            DJANGO_SETTINGS_MODULE="fdegym.settings",
            PYTHONPATH=f"{CHECKOUT}:{CHECKOUT / 'platform'}",
        )
        command = [sys.executable, str(HERE / "plays.py"), *wanted]
        done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return {row["entry"]: row for row in rows}

    return play
