"""Tasks with their worlds: built once, in a sandbox, and kept by content outside every sandbox."""

from __future__ import annotations

import functools
from pathlib import Path

from django.conf import settings

from grading.trusted import build_in_sandbox
from scenarios.kit.cache import ensure_task, is_built
from scenarios.kit.load import Scenario, Task
from workspaces.runtime.bubblewrap import BubblewrapRuntime


@functools.cache
def grading_runtime() -> BubblewrapRuntime:
    """The runtime of grades and of scenario code: apart from the workspaces, which the keeper owns."""
    return BubblewrapRuntime(Path(settings.VAR) / "grading")


def world_is_built(scenario: Scenario, task_id: str) -> bool:
    return is_built(scenario, task_id, settings.WORLD_SALT, Path(settings.WORLD_CACHE))


def ensure_world(scenario: Scenario, task_id: str) -> Task:
    """The task with its world, built now if need be. Raises ``TaskUnknown``, ``ScenarioInvalid`` or ``WorldUnbuilt``."""
    return ensure_task(
        scenario,
        task_id,
        salt=settings.WORLD_SALT,
        cache=Path(settings.WORLD_CACHE),
        builder=functools.partial(build_in_sandbox, grading_runtime()),
    )
