"""oncall_incident's tasks for tests: truths and visible worlds, made once each."""

from __future__ import annotations

import csv
import functools
import io
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from scenarios.kit.load import Scenario, load_scenario
from scenarios.kit.solutions import overlays_of
from scenarios.kit.world import BuildResult, Streams, TaskView
from scenarios.oncall_incident.world import Production, build
from scenarios.oncall_incident.world.clock import HELD_OUT
from scenarios.oncall_incident.world.truth import Truth
from tests.scenarios.local_host import LocalHost

FOLDER = Path(__file__).parents[2] / "scenarios" / "oncall_incident"
SALT = "tests"


@functools.lru_cache(maxsize=1)
def scenario() -> Scenario:
    return load_scenario(FOLDER)


def view(task_id: str) -> TaskView:
    return TaskView("oncall_incident", task_id, scenario().facts_of(task_id))


def streams(task_id: str) -> Streams:
    return Streams("oncall_incident", task_id, SALT)


@functools.lru_cache(maxsize=5)
def truth(task_id: str) -> Truth:
    return Truth(view(task_id), streams(task_id))


def production(task_id: str, until: int = HELD_OUT[1]) -> Production:
    """A fresh one each time: its loop is closed."""
    return Production(view(task_id), streams(task_id), truth=truth(task_id), until=until)


@dataclass(frozen=True)
class Built:
    """A visible world on disk."""

    folder: Path
    result: BuildResult

    def table(self, name: str) -> list[dict[str, str]]:
        text = (self.folder / "data" / name).read_text(encoding="utf-8")
        return list(csv.DictReader(io.StringIO(text, newline="")))


@functools.lru_cache(maxsize=2)
def built(task_id: str) -> Built:
    folder = Path(tempfile.mkdtemp(prefix="oncall_"))
    shutil.copytree(FOLDER / "system", folder / "system", ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
    return Built(folder, build(view(task_id), streams(task_id), folder))


def deployed(solution: str, task_id: str, folder: Path) -> LocalHost:
    """The task's system with what a solution lays over it."""
    shutil.copytree(built(task_id).folder / "system", folder / "system")
    for overlay in overlays_of(scenario(), task_id, solution):
        shutil.copytree(overlay, folder / "system", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return LocalHost(folder / "system")
