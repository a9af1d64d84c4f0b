"""The sandbox in which a delivery is deployed: ``system/`` alone, fresh for every grade, destroyed whatever happens."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from fdegym.gateway.grades import GradeGateway
from fdegym.gateway.places import ENVIRONMENT, INSIDE
from grading.replay import PathObstructed
from scenarios.kit.format import ScenarioConfig
from workspaces.runtime.base import CallLimits, Limits, Mount, Sandbox, SandboxSpec, StepResult
from workspaces.runtime.errors import SandboxFileProblem

logger = logging.getLogger(__name__)

SYSTEM = "/workspace/system"
PRODUCTION = "/srv/production"  #: where production's drops are shown, read-only
#: Who replays keeps a connection to the sandbox, and one that is gone takes no longer than this to be given up.
ABANDONED_S = 900.0
_EPOCH = 1_767_225_600  #: one time for every file that production brings: the start of 2026


class FilesSandbox(Sandbox, Protocol):
    """A sandbox with the two file operations that a replay needs besides those of the contract."""

    def listing(self, path: str) -> list[dict[str, Any]]: ...

    def delete(self, path: str) -> None: ...


class DeploymentRuntime(Protocol):
    """The part of ``SandboxRuntime`` that deploying needs, with such sandboxes."""

    def create(self, sandbox_id: str, spec: SandboxSpec) -> FilesSandbox: ...

    def start(self, sandbox_id: str) -> FilesSandbox: ...

    def destroy(self, sandbox_id: str) -> None: ...


class SandboxDeployment:
    """``grading.replay.Deployment`` over a started sandbox. ``drops`` is the host's directory behind ``PRODUCTION``.

    ``gateway`` is told of each step: what production may ask a model is counted by step.
    """

    def __init__(self, sandbox: FilesSandbox, drops: Path, gateway: GradeGateway | None = None) -> None:
        self._sandbox, self._drops, self._gateway = sandbox, drops, gateway

    @property
    def sandbox(self) -> FilesSandbox:
        """The sandbox itself, for who watches a replay."""
        return self._sandbox

    @property
    def drops(self) -> Path:
        """The host's directory of production's drops."""
        return self._drops

    def put(self, path: str, data: bytes) -> None:
        target = f"{SYSTEM}/{path}"
        try:
            self._sandbox.put(target, data)
        except SandboxFileProblem:
            self._clear_the_way(path)
            try:
                self._sandbox.put(target, data)
            except SandboxFileProblem as problem:
                raise PathObstructed(str(problem)) from problem

    def _clear_the_way(self, path: str) -> None:
        """Production owns this path: what delivered code put in its place (a link, a folder, a pipe) goes."""
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            folder, name = "/".join([SYSTEM, *parts[: depth - 1]]), parts[depth - 1]
            try:
                kinds = {entry["name"]: entry["kind"] for entry in self._sandbox.listing(folder)}
                wanted = "file" if depth == len(parts) else "directory"
                if name in kinds and kinds[name] != wanted:
                    self._sandbox.delete(f"{folder}/{name}")
            except SandboxFileProblem:
                return

    def put_drop(self, name: str, files: Mapping[str, bytes]) -> str:
        folder = self._drops / name
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():  # the folder itself stays: removing one costs more than all of its files
            if old.is_dir():
                shutil.rmtree(old)
            elif old.name not in files:
                old.unlink()
        for path, data in files.items():
            target = folder / path
            if "/" in path:
                target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(
                0o644
            )  # as below: a container's user is another one than the worker's, whose umask may be narrow
            os.utime(target, (_EPOCH, _EPOCH))
        for place, _, _ in os.walk(folder):
            Path(place).chmod(0o755)
        return f"{PRODUCTION}/{name}"

    def step(self, argv: tuple[str, ...], limits: CallLimits) -> StepResult:
        if self._gateway is not None:
            self._gateway.begin_step()
        return self._sandbox.step(argv, limits=limits, working_directory=SYSTEM)

    def read(self, path: str, max_bytes: int) -> bytes | None:
        try:
            return self._sandbox.read(f"{SYSTEM}/{path}", max_bytes=max_bytes)
        except SandboxFileProblem:
            return None

    def list_files(self, path: str, max_entries: int) -> list[str]:
        try:
            entries = self._sandbox.listing(SYSTEM if path == "." else f"{SYSTEM}/{path}")
        except SandboxFileProblem:
            return []
        names = sorted(entry["name"] for entry in entries if entry["kind"] == "file")[:max_entries]
        # a name may hold any bytes; one that is no text is counted like every other and only shown differently
        return [name.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for name in names]

    def versions(self) -> dict[str, str]:
        """Python and SQLite as delivered code meets them."""
        asked = "import platform, sqlite3; print(platform.python_version(), sqlite3.sqlite_version)"
        found = self._sandbox.exec(["/usr/bin/python3", "-I", "-c", asked], timeout_s=30)
        python, _, sqlite = found.stdout.decode("ascii", "replace").strip().partition(" ")
        return {"python": python, "sqlite": sqlite}


def grade_spec(
    config: ScenarioConfig, system: Path, drops: Path, labels: Mapping[str, str], gateway: Path | None = None
) -> SandboxSpec:
    """A sandbox with the delivered system, production's drops, the directory of the gateway's socket where there is one,
    and nothing else."""
    limits = config.limits
    mounts = [Mount(drops, PRODUCTION)]
    if gateway is not None:
        mounts.append(Mount(gateway, INSIDE))
    return SandboxSpec(
        limits=Limits(
            memory_mb=limits.memory_mb, processes=limits.processes, disk_mb=limits.disk_mb, inodes=limits.inodes
        ),
        mounts=tuple(mounts),
        environment=ENVIRONMENT if gateway is not None else {},
        seed={SYSTEM: system},
        writable=(SYSTEM,),
        working_directory=SYSTEM,
        hostname="production",
        abandon_after_s=ABANDONED_S,
        labels=labels,
    )


@contextmanager
def deployed(
    runtime: DeploymentRuntime,
    config: ScenarioConfig,
    system: Path,
    *,
    labels: Mapping[str, str],
    scratch: Path,
    gateway: GradeGateway | None = None,
) -> Iterator[SandboxDeployment]:
    """Deploy ``system`` (a folder, or a tar of ``Sandbox.snapshot``) and remove it again, also after a crash in between.

    ``scratch`` is a directory of the host for production's drops.
    """
    sandbox_id = f"grade-{uuid.uuid4().hex[:16]}"
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    drops = Path(tempfile.mkdtemp(prefix="drops-", dir=scratch))
    drops.chmod(0o755)
    try:
        directory = None if gateway is None else gateway.directory
        runtime.create(sandbox_id, grade_spec(config, system, drops, labels, directory))
        yield SandboxDeployment(runtime.start(sandbox_id), drops, gateway)
    finally:
        try:
            runtime.destroy(sandbox_id)
        except Exception:
            logger.exception("the sandbox %s of a grade could not be removed; the sweep will", sandbox_id)
        shutil.rmtree(drops, ignore_errors=True)
