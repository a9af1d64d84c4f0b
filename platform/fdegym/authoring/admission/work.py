"""The pieces of work that admission is made of, and what decides each: its key changes when its result might."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

import stakeholders
from fdegym import delivery
from fdegym.authoring.admission.findings import Check
from fdegym.authoring.admission.registry import all_checks
from grading.versions import replay_hash
from scenarios.kit.load import Scenario, content_hash
from scenarios.kit.solutions import conversation_file, solution_hash, solutions_on

ENDS, PLAY, CHECK = "ends", "play", "check"
PLAY_SECONDS, ENDS_SECONDS = 8.0, 12.0


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of work, done whole by one worker. ``task`` is empty for what is about all tasks of the scenario.

    ``key`` names all that decides the result.

    ``ends`` measure the two ends of U of a task, on which its other work waits; they have no key, the product keeps them
    itself. ``seconds``: how long it takes, roughly. ``speaks``: whether somebody is written to.
    """

    scenario: str
    part: str  #: ends | play | check
    name: str  #: of the solution or the check
    task: str
    key: str
    seconds: float
    speaks: bool = False

    @property
    def label(self) -> str:
        return " · ".join(filter(None, (self.scenario, self.task, self.name)))

    def as_json(self) -> dict[str, Any]:
        return {"scenario": self.scenario, "part": self.part, "name": self.name, "task": self.task}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Item:
        return cls(row["scenario"], row["part"], row["name"], row["task"], "", 0.0)


@functools.cache
def _people_hash() -> str:
    """Of the code and weights that decide how a message is understood and answered."""
    return content_hash(_folder(stakeholders))


@functools.cache
def _play_hash() -> str:
    return hashlib.sha256((_folder(delivery) / "play.py").read_bytes()).hexdigest()


_package_hash = functools.cache(content_hash)


def _folder(package: object) -> Path:
    return Path(str(package.__file__)).parent  # type: ignore[attr-defined]


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def _spoken(scenario: Scenario) -> list[str]:
    phrasings = scenario.folder / "phrasings.toml"
    written = phrasings.read_bytes() if phrasings.is_file() else b""
    return [hashlib.sha256(written).hexdigest(), _people_hash()]


def play_key(scenario: Scenario, task_id: str, solution: str) -> str:
    """What decides a play. Phrasings and people's engine only where somebody is written to."""
    parts = [PLAY, scenario.id, scenario.world_release, task_id, settings.WORLD_SALT, replay_hash(), _play_hash()]
    parts += [solution, solution_hash(scenario, task_id, solution)]
    if conversation_file(scenario, task_id, solution) is not None:
        parts += _spoken(scenario)
    return _digest(parts)


def check_key(scenario: Scenario, task_id: str, check: Check) -> str:
    """What decides a check; the code of the package that it is written in counts as a whole."""
    tasks = [task_id] if task_id else scenario.task_ids
    parts = [CHECK, check.name, scenario.id, scenario.world_release, task_id, settings.WORLD_SALT]
    parts += [replay_hash(), _package_hash(Path(inspect.getfile(check.run)).parent)]
    if "*" in check.solutions:
        parts.append(scenario.release)
    else:
        parts += [solution_hash(scenario, task, name) for task in tasks for name in check.solutions]
    if check.spoken:
        parts += _spoken(scenario)
    if check.decided_by is not None:
        parts.append(check.decided_by(scenario))
    return _digest(parts)


def plan(scenario: Scenario, tasks: Sequence[str]) -> list[Item]:
    """All that is to be done for these tasks of a scenario, but for the ends, which depend on what is left to do."""
    items = [
        Item(
            scenario.id,
            PLAY,
            name,
            task,
            play_key(scenario, task, name),
            PLAY_SECONDS,
            speaks=conversation_file(scenario, task, name) is not None,
        )
        for task in tasks
        for name in solutions_on(scenario, task)
    ]
    for check in all_checks():
        for task in _tasks_of(check, tasks):
            key = check_key(scenario, task, check)
            items.append(Item(scenario.id, CHECK, check.name, task, key, check.seconds, check.spoken))
    return items


def _tasks_of(check: Check, tasks: Sequence[str]) -> Sequence[str]:
    """The tasks that a check is done on, each by itself; the empty name is all of them together."""
    if not check.each_task:
        return [""]
    return [task for task in tasks if not check.tasks or task in check.tasks]


def ends_of(items: Iterable[Item]) -> list[Item]:
    """The ends that must be measured before these items."""
    needed = dict.fromkeys((item.scenario, item.task) for item in items if item.task)
    return [Item(scenario, ENDS, "both ends of U", task, "", ENDS_SECONDS) for scenario, task in needed]
