"""Where built worlds lie: one directory per content, published whole or not at all.

A world is a function of (scenario release, task, salt, the kit's own code); its directory is named by their hash. It is
built in a directory of its own and renamed into place, so that two builders at once, or a killed one, do no harm.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from scenarios.kit.load import Scenario, Task, content_hash, load_task

#: Runs ``scenarios.kit.build`` for (scenario, task, salt) with its output below the given directory.
Builder = Callable[[Scenario, str, str, Path], None]


@functools.cache
def _kit_hash() -> str:
    return content_hash(Path(__file__).parent)


def salt_fingerprint(salt: str) -> str:
    """Eight hexadecimal digits that name a salt without telling it; empty for an unsalted site."""
    return hashlib.sha256(f"fdegym salt\x1f{salt}".encode()).hexdigest()[:8] if salt else ""


def world_key(scenario: Scenario, task_id: str, salt: str) -> str:
    text = "\x1f".join((scenario.release, task_id, salt, _kit_hash()))
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def is_built(scenario: Scenario, task_id: str, salt: str, cache: Path) -> bool:
    return (cache / world_key(scenario, task_id, salt) / "meta.json").is_file()


def ensure_task(scenario: Scenario, task_id: str, *, salt: str, cache: Path, builder: Builder) -> Task:
    """The task with its world, built now if it is not there yet."""
    scenario.facts_of(task_id)  # an unknown task is said before anything is built
    place = cache / world_key(scenario, task_id, salt)
    if not (place / "meta.json").is_file():
        cache.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix="building-", dir=cache))
        try:
            builder(scenario, task_id, salt, building)
            building.chmod(0o755)
            try:
                building.rename(place)
            except OSError:
                if not (place / "meta.json").is_file():
                    raise
        finally:
            shutil.rmtree(building, ignore_errors=True)
    return load_task(scenario, task_id, place)
