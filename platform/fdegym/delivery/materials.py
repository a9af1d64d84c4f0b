"""What a run's workspace is made of: the task's visible world, the instruction of its level, the command ``ask``."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

import stakeholders
from fdegym.gateway.places import ENVIRONMENT as GATEWAY_ENVIRONMENT
from fdegym.gateway.places import make_directory, run_directory
from fdegym.runs.models import Run
from scenarios.kit.load import Task
from workspaces.materials import WorkspaceMaterials
from workspaces.runtime.base import Limits

ASK_DIRECTORY = Path(stakeholders.__file__).parent / "ask"
INSIDE = "/workspace"


def desk_directory(run: Run) -> Path:
    """The directory of the run's own desk socket; it is the directory that is shown inside, never the socket."""
    return Path(settings.DESK_DIR) / str(run.id)


def materials_of(run: Run, task: Task) -> WorkspaceMaterials:
    visible, limits = task.visible, task.scenario.config.limits
    desk = desk_directory(run)
    desk.mkdir(mode=0o700, parents=True, exist_ok=True)
    gateway = None if task.scenario.config.gateway is None else make_directory(run_directory(run.id))
    return WorkspaceMaterials(
        read_only={
            f"{INSIDE}/TASK.md": visible / "briefs" / run.level / "TASK.md",
            f"{INSIDE}/docs": visible / "docs",
            f"{INSIDE}/data": visible / "data",
            f"{INSIDE}/directory.md": visible / "directory.md",
            "/opt/fdegym/bin": ASK_DIRECTORY,
        },
        seed={f"{INSIDE}/system": task.system},
        desk_socket_dir=desk,
        gateway_socket_dir=gateway,
        hostname=task.scenario.id.split("_")[0],
        limits=Limits(
            memory_mb=limits.memory_mb, processes=limits.processes, disk_mb=limits.disk_mb, inodes=limits.inodes
        ),
        environment={"ASK_SOCKET": "/run/desk/desk.sock", **({} if gateway is None else GATEWAY_ENVIRONMENT)},
        person=str(run.user_id or ""),
        # a run that is only looked at, by a check of its scenario, was never begun
        begun_at=run.begun_at.timestamp() if run.begun_at else 0.0,
    )
