"""Deploying one system of one task and replaying it: the delivery's, the one as found, a reference, any solution's.

Everything that ever gets a KPI gets it here.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from fdegym.gateway.grades import GatewayLost, GradeGateway, grade_gateway, left_by_others
from grading.deployment import SandboxDeployment, deployed
from grading.overload import host_overloaded
from grading.processes import forget_the_dead, is_alive, process_name
from grading.replay import (
    Deployment,
    GradedReplay,
    ProgressCallback,
    ReplayTask,
    ReplayVoid,
    ScenarioSide,
    TriedSystem,
    no_progress,
    replay_delivery,
    try_delivery,
)
from grading.trusted import scenario_side, tail
from grading.worlds import deployment_runtime, grading_runtime
from scenarios.kit.load import Task, content_hash
from scenarios.kit.solutions import Solution
from workspaces.runtime.errors import RuntimeUnusable

logger = logging.getLogger(__name__)
PURPOSE = {"purpose": "grade"}
HALF_MADE_S = 86_400.0  #: nobody is as long at making a sandbox, or helped by one


@dataclass(frozen=True, slots=True)
class Measured:
    """A replay, and the Python, SQLite and sandbox it ran under. ``model_use``: its calls of the model gateway, if any."""

    replay: GradedReplay
    environment: Mapping[str, str]
    model_use: Mapping[str, Any] | None = None


def _scratch() -> Path:
    return Path(settings.VAR) / "grading-scratch"


def own_scratch() -> Path:
    """Where this process puts files while it grades; what it leaves there when it is killed, the sweep removes."""
    return _scratch() / process_name()


def _silent(step: str) -> None:
    """For measurements that nobody watches."""


#: Puts somebody between a replay and its deployment, who sees what passes.
Watch = Callable[[Deployment], Deployment]


def unwatched(deployment: Deployment) -> Deployment:
    """Nobody is between."""
    return deployment


def measure(
    task: Task,
    system: Path,
    *,
    salt: str | None = None,
    on_step: Callable[[str], None] = _silent,
    progress: ProgressCallback = no_progress,
    watched: Watch = unwatched,
) -> Measured:
    """Deploy ``system`` (a folder, or a tar of ``Sandbox.snapshot``) and replay the task's held-out data on it.

    ``salt`` is that of the task's world where it is another than the site's. ``watched`` may put somebody between the
    replay and the deployment, who writes down what passes.

    Raises ``ReplayVoid``, ``SandboxError`` or what the callbacks raise. The sandbox is gone when this returns.
    """
    limits = held_by()
    with _both_sides(task, system, on_step) as (side, deployment, gateway):
        versions = deployment.versions()
        on_step("start")
        replay = replay_delivery(
            side, watched(deployment), replay_task(task, salt), progress=progress, host_overloaded=host_overloaded
        )
        model_use = gateway.close() if gateway is not None else None
    return Measured(replay, {**versions, "sandbox": deployment_runtime().name, "limits": limits}, model_use)


def held_by() -> str:
    """By whom deliveries are held to their limits here; asked beforehand, for who makes sandboxes may be away later.

    Raises ``RuntimeUnusable``.
    """
    report = deployment_runtime().report()
    if not report.usable:
        raise RuntimeUnusable(str(report.problem))
    return ", ".join(f"{what} by {by}" for what, by in sorted(report.limits_enforced_by.items()))


def try_system(
    task: Task,
    system: Path,
    *,
    on_step: Callable[[str], None] = _silent,
    progress: ProgressCallback = no_progress,
) -> TriedSystem:
    """Deploy ``system`` as ``measure`` does, within the same limits, and run the scenario's trial on it.

    Raises as ``measure``.
    """
    with _both_sides(task, system, on_step) as (side, deployment, gateway):
        on_step("start")
        tried = try_delivery(side, deployment, replay_task(task), progress=progress, host_overloaded=host_overloaded)
        if gateway is not None:
            gateway.close()
    return tried


@contextmanager
def _both_sides(
    task: Task, system: Path, on_step: Callable[[str], None]
) -> Iterator[tuple[ScenarioSide, SandboxDeployment, GradeGateway | None]]:
    """The scenario's process, the deployed system and its model gateway, if the scenario has one.

    What the scenario said last goes into the detail of a void. A gateway that fails voids the replay: it may be tried
    again, and answers that were had are not asked for anew.
    """
    runtime, scenario = deployment_runtime(), task.scenario
    on_step("copy")
    labels, scratch = {**PURPOSE, "by": process_name()}, own_scratch()
    delivery = _hash_of(system) if scenario.config.gateway is not None else ""
    try:
        with (
            grade_gateway(scenario.id, scenario.release, delivery, scenario.config.gateway, process_name()) as gateway,
            deployed(runtime, scenario.config, system, labels=labels, scratch=scratch, gateway=gateway) as deployment,
            scenario_side(grading_runtime(), scenario) as (side, stderr),
        ):
            try:
                yield side, deployment, gateway
            except ReplayVoid as void:
                void.detail = f"{void.detail}\n{tail(stderr)}".strip()
                raise
    except GatewayLost as lost:
        raise ReplayVoid("The model gateway failed while grading.", retry=True, detail=str(lost)) from lost


def _hash_of(system: Path) -> str:
    """SHA-256 of a delivery: of the sealed tar as it lies there, or of a scripted solution's folder."""
    if system.is_dir():
        return content_hash(system)
    with system.open("rb") as sealed:
        return hashlib.file_digest(sealed, "sha256").hexdigest()


def replay_task(task: Task, salt: str | None = None) -> ReplayTask:
    """What the replay needs to know of a task; ``salt`` as in ``measure``."""
    config = task.scenario.config
    return ReplayTask(
        scenario=task.scenario.id,
        task=task.task_id,
        facts=task.facts,
        salt=settings.WORLD_SALT if salt is None else salt,
        limits=config.replay,
        incidents=frozenset(config.incidents),
    )


@contextmanager
def system_of(task: Task, solution: Solution) -> Iterator[Path]:
    """A folder with the system as found and the solution's files laid over it, for as long as the block runs."""
    folder = own_scratch() / f"system-{task.scenario.id}-{task.task_id}-{solution.name}"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        shutil.copytree(task.system, folder)
        for overlay in solution.overlays:
            shutil.copytree(overlay, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers() -> int:
    """Destroy sandboxes and scratch files of grading processes that were killed; how many sandboxes."""
    removed = 0
    for runtime in dict.fromkeys((grading_runtime(), deployment_runtime())):
        runtime.remove_half_made(older_than_s=HALF_MADE_S)
        for sandbox in runtime.adopt(PURPOSE):
            if not is_alive(sandbox.spec.labels.get("by", "")):
                logger.warning("removing the sandbox %s: the process that graded in it was killed", sandbox.id)
                runtime.destroy(sandbox.id)
                removed += 1
    for directory in left_by_others(is_alive):
        shutil.rmtree(directory, ignore_errors=True)
    if _scratch().is_dir():
        for folder in _scratch().iterdir():
            if not is_alive(folder.name):
                shutil.rmtree(folder, ignore_errors=True)
    forget_the_dead()
    return removed
