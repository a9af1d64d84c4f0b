"""Loading a scenario: files → typed models → a ``Task`` with everything the engines need.

All problems of a file are reported at once, each with its place, and nothing is loaded half.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from scenarios.kit.errors import Problem, ScenarioInvalid, ScenarioUnknown, TaskUnknown
from scenarios.kit.format import (
    FactsFile,
    FactText,
    ScenarioConfig,
    StakeholdersFile,
)
from scenarios.kit.render import TextProblem, render_tree

Model = TypeVar("Model", bound=BaseModel)

ORIGINAL = "original"
MANIFEST = "scenario.toml"
_FOUND_MAX = 64
_NAME = re.compile(r"^[a-z][a-z0-9_]{1,63}$")
#: Not part of a scenario's content: what admission writes, and what interpreters and editors leave behind.
_NOT_CONTENT = {"anchors.json", "matcher.npz", "__pycache__", ".DS_Store"}
#: What no world is made of: how it may be solved, asked about, and was found out.
_NOT_WORLD = {"solutions", "phrasings.toml", "SOURCES.md"}


@dataclass(frozen=True, slots=True)
class Scenario:
    """A loaded scenario. ``release`` is the SHA-256 of its content, without what admission writes.

    ``world_release`` is that of the part which worlds are made of: a new phrasing or solution makes no new world.
    """

    id: str
    folder: Path
    config: ScenarioConfig
    facts: FactsFile
    release: str
    world_release: str

    @property
    def task_ids(self) -> tuple[str, ...]:
        return (ORIGINAL, *self.facts.variants)

    def key_facts(self, task_id: str) -> list[str]:
        return self.facts.key_facts if task_id == ORIGINAL else self.facts.variants[task_id].key_facts

    def facts_of(self, task_id: str) -> dict[str, Any]:
        """The authored facts of a task; those that the world chooses are added once it is built."""
        if task_id == ORIGINAL:
            return dict(self.facts.facts)
        if task_id not in self.facts.variants:
            raise TaskUnknown(f"Scenario {self.id} has no task {task_id!r}; it has {', '.join(self.task_ids)}.")
        return {**self.facts.facts, **self.facts.variants[task_id].facts}


@dataclass(frozen=True, slots=True)
class WorldMeta:
    """What ``world.build`` chose and what people may cite; kept beside the visible files, outside every sandbox."""

    facts: Mapping[str, Any]
    records: Mapping[str, list[str]]
    record_groups: Mapping[str, Mapping[str, list[str]]]
    sha256: str  #: over the visible files: names and bytes

    @classmethod
    def read(cls, path: Path) -> WorldMeta:
        return cls(**json.loads(path.read_text()))


@dataclass(frozen=True, slots=True)
class Task:
    """A scenario with one set of facts, its world built: what a run, the engine and the grader work with."""

    scenario: Scenario
    task_id: str
    facts: Mapping[str, Any]
    key_facts: Sequence[str]
    fact_texts: Mapping[str, FactText]
    stakeholders: StakeholdersFile
    world: Path  #: the built world: visible/{data,docs,system,briefs,directory.md}
    meta: WorldMeta

    @property
    def visible(self) -> Path:
        return self.world / "visible"

    @property
    def system(self) -> Path:
        """The customer's system as found."""
        return self.visible / "system"

    def brief(self, level: str) -> str:
        return (self.visible / "briefs" / level / "TASK.md").read_text()


def content_hash(folder: Path, *, without: Collection[str] = ()) -> str:
    """SHA-256 over names and bytes of a folder's files, in order of their names; ``without`` what lies at its top."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and not _NOT_CONTENT & set(parts) and parts[0] not in without and path.suffix != ".pyc":
            name, data = path.relative_to(folder).as_posix(), path.read_bytes()
            if name == MANIFEST:
                data = _unsigned(data)
            digest.update(f"{name}\0{len(data)}\0".encode())
            digest.update(data)
    return digest.hexdigest()


def _unsigned(manifest: bytes) -> bytes:
    """The manifest without its sign-off, which names the hash of everything else and stands last in the file."""
    return re.split(rb"(?m)^\[signoff\]", manifest, maxsplit=1)[0].rstrip(b"\n") + b"\n"


def read_toml(folder: Path, name: str) -> dict[str, Any]:
    """A file of a scenario's folder. Raises ``ScenarioInvalid``, whatever lies in its place: others go on without it."""
    path = folder / name
    try:
        if path.exists() and not path.is_file():
            raise ScenarioInvalid(folder.name, [Problem(name, "", "is no file")])  # on a pipe a reader would wait
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as missing:
        raise ScenarioInvalid(folder.name, [Problem(name, "", "the file is missing")]) from missing
    except OSError as error:
        raise ScenarioInvalid(folder.name, [Problem(name, "", f"cannot be read: {error.strerror}")]) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioInvalid(folder.name, [Problem(name, "", f"not valid TOML: {error}")]) from error
    except RecursionError as error:
        raise ScenarioInvalid(folder.name, [Problem(name, "", "not valid TOML: nested too deeply")]) from error


def _place(location: Sequence[int | str]) -> str:
    """A pydantic location as an author would write it: ``stakeholders[3].topics[2].gate``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text


def validate(model: type[Model], value: Any, folder: Path, name: str) -> Model:
    """The typed model of a value read from the file ``name``. Raises ``ScenarioInvalid`` with every problem found."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        problems = [Problem(name, _place(found["loc"]), found["msg"]) for found in error.errors()]
        raise ScenarioInvalid(folder.name, problems) from error


def load_scenario(folder: Path) -> Scenario:
    """Read and check ``scenario.toml`` and ``facts.toml``. Raises ``ScenarioInvalid`` with every problem found."""
    config = validate(ScenarioConfig, read_toml(folder, "scenario.toml"), folder, "scenario.toml")
    if config.id != folder.name:
        expected = f"the id is {config.id!r}, the folder is {folder.name!r}; they must be the same"
        raise ScenarioInvalid(folder.name, [Problem("scenario.toml", "id", expected)])
    if config.signoff and list(read_toml(folder, MANIFEST))[-1] != "signoff":
        expected = "the sign-off stands last in the file: it is the only part that its hash leaves out"
        raise ScenarioInvalid(folder.name, [Problem(MANIFEST, "signoff", expected)])
    facts = validate(FactsFile, read_toml(folder, "facts.toml"), folder, "facts.toml")
    unknown = [task for task in config.offered if task != ORIGINAL and task not in facts.variants]
    if unknown:
        expected = f"{', '.join(unknown)}: facts.toml has no such variant"
        raise ScenarioInvalid(folder.name, [Problem("scenario.toml", "offered", expected)])
    return Scenario(config.id, folder, config, facts, content_hash(folder), content_hash(folder, without=_NOT_WORLD))


@dataclass(frozen=True, slots=True)
class _Found:
    scenario: Scenario
    stamp: int
    looked_at: float


_found: dict[Path, _Found] = {}


def _stamp(folder: Path) -> int:
    """Another number when a file below the folder was added, removed, renamed or written to."""
    files = []
    waiting = [str(folder)]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        waiting.append(entry.path)
                    continue
                with contextlib.suppress(OSError):  # a link that leads nowhere, or gone meanwhile
                    status = entry.stat()
                    files.append((entry.path, status.st_mtime_ns, status.st_size, status.st_ino))
    return hash(tuple(sorted(files)))


def _current(folder: Path, within_s: float) -> Scenario:
    now, known = time.monotonic(), _found.get(folder)
    if known is not None and now - known.looked_at < within_s:
        return known.scenario
    stamp = _stamp(folder)
    scenario = known.scenario if known is not None and known.stamp == stamp else load_scenario(folder)
    if len(_found) >= _FOUND_MAX:
        _found.clear()
    _found[folder] = _Found(scenario, stamp, now)
    return scenario


def find_scenario(scenario_id: str, directories: Sequence[Path], *, within_s: float = 0.0) -> Scenario:
    """The scenario of that id in the first directory that has it, read again when its files change.

    ``within_s``: how many seconds old a change may be that goes unnoticed; looking at all files takes a millisecond.
    """
    if _NAME.match(scenario_id):
        for directory in directories:
            folder = directory / scenario_id
            if (folder / "scenario.toml").is_file():
                return _current(folder, within_s)
    known = ", ".join(scenario_ids(directories)) or "none"
    raise ScenarioUnknown(f"There is no scenario {scenario_id!r}; there are: {known}.")


def scenario_ids(directories: Sequence[Path]) -> list[str]:
    """Ids of all scenarios, those of earlier directories first; within a directory in order of the alphabet."""
    found: dict[str, None] = {}
    for directory in directories:
        for manifest in sorted(directory.glob("*/scenario.toml")):
            found.setdefault(manifest.parent.name)
    return list(found)


def load_stakeholders(scenario: Scenario, facts: Mapping[str, Any]) -> StakeholdersFile:
    """``stakeholders.toml`` rendered with the task's facts (those chosen by the world included)."""
    raw = read_toml(scenario.folder, "stakeholders.toml")
    try:
        rendered = render_tree(raw, facts, file="stakeholders.toml")
    except TextProblem as error:
        raise ScenarioInvalid(scenario.id, [error.problem]) from error
    return validate(StakeholdersFile, rendered, scenario.folder, "stakeholders.toml")


def load_fact_texts(scenario: Scenario, task_id: str, facts: Mapping[str, Any]) -> dict[str, FactText]:
    texts = dict(scenario.facts.texts)
    if task_id != ORIGINAL:
        texts |= scenario.facts.variants[task_id].texts
    try:
        return {
            key: FactText.model_validate(render_tree(text.model_dump(), facts, file="facts.toml", place=f"texts.{key}"))
            for key, text in texts.items()
        }
    except TextProblem as error:
        raise ScenarioInvalid(scenario.id, [error.problem]) from error


def load_task(scenario: Scenario, task_id: str, world: Path) -> Task:
    """A task whose world lies built at ``world`` (see ``scenarios.kit.build``)."""
    meta = WorldMeta.read(world / "meta.json")
    facts = {**scenario.facts_of(task_id), **meta.facts}
    return Task(
        scenario=scenario,
        task_id=task_id,
        facts=facts,
        key_facts=tuple(scenario.key_facts(task_id)),
        fact_texts=load_fact_texts(scenario, task_id, facts),
        stakeholders=load_stakeholders(scenario, facts),
        world=world,
        meta=meta,
    )
