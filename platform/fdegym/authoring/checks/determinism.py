"""The same task gives the same bytes on any machine, and the same delivery the same grade.

Each world is built a second time as another machine would (``elsewhere``), and the reference's replay is held a second
time against scenario code that runs so: the delivered system's answers were written down the first time, so that a
request of the scenario that differs is caught where it first does, and the grade is compared in full.
"""

from __future__ import annotations

import dataclasses
import filecmp
import hashlib
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from fdegym.authoring.admission.findings import Check, Finding
from fdegym.authoring.checks.elsewhere import another_machine
from grading.measure import measure, replay_task, system_of
from grading.replay import Deployment, GradedReplay, PathObstructed, replay_delivery
from grading.trusted import build_in_sandbox, scenario_side
from grading.worlds import ensure_world, grading_runtime
from scenarios.kit.load import Scenario, Task
from scenarios.kit.solutions import load_solution
from workspaces.runtime.base import CallLimits, StepResult

MOST_TOLD = 5
ADVICE = (
    "Draw with Generator methods, use integers and quantised values, round what array functions give, sort what comes from "
    "sets, and read neither clock, environment nor disk."
)


class BroughtOtherwise(Exception):
    """The scenario asked the deployment for something else than the first time. Its text says what."""


# ---- worlds ----------------------------------------------------------------------------------------------------------


def differing_files(one: Path, other: Path) -> list[str]:
    """Files that only one of two worlds has or that differ in bytes; those that are shown also by their time."""
    mine, theirs = (
        {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()} for root in (one, other)
    )
    found = sorted(mine.keys() ^ theirs.keys())
    for name in sorted(mine.keys() & theirs.keys()):
        times = {path.stat().st_mtime_ns for path in (mine[name], theirs[name]) if name.startswith("visible/")}
        if len(times) > 1 or not filecmp.cmp(mine[name], theirs[name], shallow=False):
            found.append(name)
    return found


def world_elsewhere(task: Task) -> list[str]:
    """Files of the task's world, ``meta.json`` among them, that differ when another machine builds it."""
    with tempfile.TemporaryDirectory(dir=settings.VAR, prefix="elsewhere-") as scratch:
        out = Path(scratch)
        build_in_sandbox(
            grading_runtime(),
            task.scenario,
            task.task_id,
            settings.WORLD_SALT,
            out,
            environment=another_machine(),
        )
        return differing_files(task.world, out)


# ---- replays ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True, slots=True)
class Exchange:
    """One request of the scenario, by the hash of all it holds, and what the deployment answered (or raised)."""

    what: str
    digest: str
    answer: Any


def _digest(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


class _Through(ABC):
    """A ``Deployment`` by which every request passes ``_pass(what, digest, do)``."""

    def __init__(self, deployment: Deployment | None) -> None:
        self._deployment = deployment

    @abstractmethod
    def _pass(self, what: str, digest: str, do: Any) -> Any: ...

    def put(self, path: str, data: bytes) -> None:
        self._pass(f"put {path}", _digest(data), lambda to: to.put(path, data))

    def put_drop(self, name: str, files: Mapping[str, bytes]) -> str:
        parts = [part for path, data in files.items() for part in (path.encode(), data)]
        what = f"put_drop {name} ({', '.join(files)})"
        return str(self._pass(what, _digest(*parts), lambda to: to.put_drop(name, files)))

    def step(self, argv: tuple[str, ...], limits: CallLimits) -> StepResult:
        done: StepResult = self._pass(f"call {' '.join(argv)}", "", lambda to: to.step(argv, limits))
        return done

    def read(self, path: str, max_bytes: int) -> bytes | None:
        data: bytes | None = self._pass(f"read {path}", str(max_bytes), lambda to: to.read(path, max_bytes))
        return data

    def list_files(self, path: str, max_entries: int) -> list[str]:
        return list(self._pass(f"list {path}", str(max_entries), lambda to: to.list_files(path, max_entries)))


class Recording(_Through):
    """Passes on to a deployment and writes down what passed."""

    def __init__(self, deployment: Deployment) -> None:
        super().__init__(deployment)
        self.exchanges: list[Exchange] = []

    def _pass(self, what: str, digest: str, do: Any) -> Any:
        try:
            answer = do(self._deployment)
        except PathObstructed as problem:
            answer = problem
        self.exchanges.append(Exchange(what, digest, answer))
        if isinstance(answer, PathObstructed):
            raise answer
        return answer


class Recorded(_Through):
    """Answers as a deployment did before, as long as it is asked for the same. Raises ``BroughtOtherwise``."""

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        super().__init__(None)
        self._exchanges, self.passed = exchanges, 0

    def _pass(self, what: str, digest: str, do: Any) -> Any:
        if self.passed == len(self._exchanges):
            raise BroughtOtherwise(f"after the last of {len(self._exchanges)} requests comes another, {what}")
        expected = self._exchanges[self.passed]
        self.passed += 1
        if what != expected.what:
            raise BroughtOtherwise(f"request {self.passed} is {what} and was {expected.what}")
        if digest != expected.digest:
            raise BroughtOtherwise(f"request {self.passed}, {what}, holds other bytes")
        if isinstance(expected.answer, PathObstructed):
            raise expected.answer
        return expected.answer


def grade_differences(one: GradedReplay, other: GradedReplay) -> list[str]:
    """Parts of two grades that differ, in words."""
    before, after = dataclasses.asdict(one), dataclasses.asdict(other)
    found = [f"the KPI is {other.kpi!r} and was {one.kpi!r}"] if one.kpi != other.kpi else []
    return found + [
        f"the {part} differs" for part in ("incidents", "breakdown", "period") if before[part] != after[part]
    ]


def replay_elsewhere(task: Task) -> tuple[int, list[str]]:
    """How many requests the reference's replay takes, and what differs when scenario code runs on another machine."""
    recorded: list[Recording] = []

    def watched(deployment: Deployment) -> Deployment:
        recorded.append(Recording(deployment))
        return recorded[-1]

    with system_of(task, load_solution(task, "reference")) as system:
        here = measure(task, system, watched=watched).replay
    exchanges = recorded[-1].exchanges
    again = Recorded(exchanges)
    with scenario_side(grading_runtime(), task.scenario, environment=another_machine()) as (side, _):
        try:
            there = replay_delivery(side, again, replay_task(task))
        except BroughtOtherwise as difference:
            return len(exchanges), [str(difference)]
    left = [f"only {again.passed} of {len(exchanges)} requests come"] if again.passed < len(exchanges) else []
    return len(exchanges), left + grade_differences(here, there)


def check_determinism(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
    for task_id in tasks:
        task = ensure_world(scenario, task_id)
        files = world_elsewhere(task)
        requests, differing = replay_elsewhere(task)
        figures = {"requests": requests, "files_differing": len(files), "replay_differences": len(differing)}
        told = [f"the built world differs in {', '.join(files[:MOST_TOLD])}"] if files else []
        told += [f"in the reference's replay {'; '.join(differing[:MOST_TOLD])}"] if differing else []
        words = f"with other CPU features and another hash seed {'; '.join(told)}. {ADVICE}" if told else ""
        yield Finding("determinism", task_id, not told, figures, words)


DETERMINISM = Check(
    "determinism",
    "another machine builds the same bytes and gives the same grade",
    check_determinism,
    solutions=("reference",),
    seconds=25,
)
