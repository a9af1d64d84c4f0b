"""logistics_claims' tasks for tests: visible worlds built once each, productions drawn once each, and decisions by hand."""

from __future__ import annotations

import csv
import functools
import io
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from scenarios.kit.load import Scenario, load_scenario
from scenarios.kit.world import BuildResult, Streams, TaskView
from scenarios.logistics_claims.grader.ledger import Ledger
from scenarios.logistics_claims.grader.rows import parse_decisions
from scenarios.logistics_claims.grader.truth import written
from scenarios.logistics_claims.world import build
from scenarios.logistics_claims.world.claims import Filed
from scenarios.logistics_claims.world.desk import Row
from scenarios.logistics_claims.world.production import Production, Run, Source

FOLDER = Path(__file__).parents[2] / "scenarios" / "logistics_claims"
TASKS = ("original", "r_returned", "haulier_terms", "counsel", "pounds", "fraud_brief")

Table = list[dict[str, str]]
Decide = Callable[[list[Filed]], Iterable[Row]]


@functools.lru_cache(maxsize=1)
def scenario() -> Scenario:
    return load_scenario(FOLDER)


def view(task_id: str) -> TaskView:
    return TaskView("logistics_claims", task_id, scenario().facts_of(task_id))


def streams(task_id: str, salt: str = "") -> Streams:
    return Streams("logistics_claims", task_id, salt)


@functools.lru_cache(maxsize=8)
def source(task_id: str) -> Source:
    return Production(view(task_id), streams(task_id)).source


def run_of(task_id: str) -> Run:
    """The task's production from its first day."""
    return Run(source(task_id))


@dataclass(frozen=True)
class Built:
    """A visible world on disk."""

    folder: Path
    result: BuildResult

    def table(self, name: str) -> Table:
        return table((self.folder / "data" / name).read_bytes())


@functools.lru_cache(maxsize=8)
def built(task_id: str) -> Built:
    folder = Path(tempfile.mkdtemp(prefix=f"logistics_{task_id}_"))
    _built_folders.append(folder)
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(FOLDER / "system", folder / "system", ignore=ignored, dirs_exist_ok=True)
    return Built(folder, build(view(task_id), streams(task_id), folder))


_built_folders: list[Path] = []


def remove_built() -> None:
    """Forget and delete every built world."""
    built.cache_clear()
    while _built_folders:
        shutil.rmtree(_built_folders.pop())


def table(data: bytes) -> Table:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def scans(data: bytes) -> Table:
    header, *lines = data.decode().splitlines()
    return [dict(zip(header.split("|"), line.split("|"), strict=True)) for line in lines]


def played(task_id: str, decide: Decide, days: int | None = None) -> Ledger:
    """A run whose new claims are decided by ``decide``, through the same parsing and judging as a delivery's."""
    run = run_of(task_id)
    ledger = Ledger(run)
    for day in range(days if days is not None else len(run.days)):
        ledger.decide(day, parse_decisions(written(decide(run.file(day)))))
    return ledger


def working_day(index: int) -> date:
    return source("original").days[index]
