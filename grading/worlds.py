"""Tasks with their worlds: built once, in a sandbox, and kept by content outside every sandbox."""

from __future__ import annotations

import functools
from pathlib import Path

from django.conf import settings

from grading.trusted import build_in_sandbox
from scenarios.kit.cache import ensure_task, is_built
from scenarios.kit.load import Scenario, Task
from workspaces.runtime.asked import FOLDER, AskedRuntime
from workspaces.runtime.bubblewrap import BubblewrapRuntime
from workspaces.runtime.launched import LauncherRuntime


@functools.cache
def grading_runtime() -> BubblewrapRuntime:
    """The runtime of scenario code, and where the host has no containers of deliveries: apart from the workspaces."""
    return BubblewrapRuntime(Path(settings.VAR) / "grading")


def deployment_runtime() -> LauncherRuntime:
    """The runtime in which deliveries are deployed: what this host makes its workspaces with."""
    if settings.SANDBOX_RUNTIME == "docker":
        return _asked_runtime(Path(settings.VAR) / FOLDER, Path(settings.KEEPER_SOCKET))
    return grading_runtime()


@functools.cache
def _asked_runtime(state_dir: Path, keeper: Path) -> AskedRuntime:
    return AskedRuntime(state_dir, keeper)


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
