"""What a run was given, as hashes in its log: whoever doubts later what the instruction said can check it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from django.conf import settings

from fdegym.delivery.materials import ASK_DIRECTORY
from fdegym.runs import log
from fdegym.runs.models import Run, RunEvent
from scenarios.kit.build import visible_hash
from scenarios.kit.load import Task
from stakeholders.versions import people_version

#: Key in the log → what it is, in words.
GIVEN = {
    "instruction": "the instruction (TASK.md)",
    "documents": "the documents (docs/)",
    "data": "the data (data/)",
    "directory": "the directory of people (directory.md)",
    "system": "the system as found (system/)",
    "citable": "what people accept as evidence (records and figures)",
    "ask": "the command `ask`",
}


def _hash(path: Path) -> str:
    """SHA-256 of a file, or over names and bytes of the files below a folder."""
    if path.is_dir():
        return visible_hash(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def hashes_of(task: Task, level: str) -> dict[str, str]:
    """Hash of each part of ``GIVEN`` as it lies on this host now. Raises ``OSError`` where a part is gone."""
    places = {
        "instruction": task.visible / "briefs" / level / "TASK.md",
        "documents": task.visible / "docs",
        "data": task.visible / "data",
        "directory": task.visible / "directory.md",
        "system": task.system,
        "citable": task.world / "meta.json",
    }
    return {name: _hash(place) for name, place in places.items()} | {"ask": ask_hash()}


def ask_hash() -> str:
    """Of the command `ask` as it is installed here."""
    return _hash(ASK_DIRECTORY)


def note_given(run: Run, task: Task) -> None:
    """Log what the run's workspace is made of; nothing where that was logged already and has not changed since."""
    payload: dict[str, Any] = {
        "release": task.scenario.release,
        "world": task.meta.sha256,
        "people": people_version(),
        "given": hashes_of(task, run.level),
    }
    before = log.events(run.id, kinds=["run.prepared"])
    if not before or {**before[-1].payload, "salt": ""} != {**payload, "salt": ""}:
        log.append(run.id, "run.prepared", {**payload, "salt": log.seal(run.id, _salt())})


def is_of_this_salt(prepared: RunEvent) -> bool:
    """Whether the run's world was made with the salt that the site has now; so it was where the log does not say."""
    sealed = prepared.payload.get("salt")
    return sealed is None or log.seal_fits(prepared.run_id, _salt(), sealed)


def _salt() -> str:
    return f"salt {settings.WORLD_SALT}"
