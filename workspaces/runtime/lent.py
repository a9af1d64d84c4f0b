"""Containers for sandboxes whose folders other processes make, which may not have the Docker daemon's socket themselves.

Such a process (``asked``) makes the sandbox's folder in one directory that it shares with the keeper, has its container
started and removed by the keeper, and reaches the launcher itself, by the socket in that folder. Here it is made sure
that nothing is started but what lies in that directory, and that a container is shown nothing but what it may be lent.
"""

# docker-py has no annotations:
# mypy: disallow-untyped-calls=false

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from docker.errors import APIError

from workspaces.runtime.base import Mount, SandboxState
from workspaces.runtime.docker import FIRST_UID, LABEL, UIDS, DockerRuntime
from workspaces.runtime.errors import HostFull, RuntimeUnusable, SandboxError, SandboxMissing, SandboxSpecProblem

logger = logging.getLogger(__name__)
LIVING_MAX = 64  #: containers on one host: far more than its processors can use, far fewer than would harm it
#: A folder this old without a living launcher belongs to nobody: its maker starts it at once, and removes it at the end.
LEFT_AFTER_S = 900.0


class LentContainers(DockerRuntime):
    """Their user ids follow those of the workspaces. ``shown``: below these folders lies all that one may be shown."""

    def __init__(
        self, state_dir: Path, *, image: str, daemon: str, shown: Sequence[Path], living_max: int = LIVING_MAX
    ) -> None:
        super().__init__(state_dir, image=image, daemon=daemon, first_uid=FIRST_UID + UIDS)
        self._shown = [folder.resolve() for folder in shown]
        self._living_max = living_max

    def launch(self, sandbox_id: str) -> None:
        """Start the container of a sandbox whose maker waits for it and has its folder locked.

        Raises ``HostFull``, ``RuntimeUnusable``, ``SandboxMissing``, ``SandboxSpecProblem`` or ``SandboxStartFailed``.
        """
        directory = self._directory(sandbox_id)
        sandbox = self.get(sandbox_id)
        if sandbox is None or directory.is_symlink():
            raise SandboxMissing(f"There is no sandbox {sandbox_id} among those that are lent containers.")
        self._check(sandbox.spec.mounts)
        if (living := self._count()) >= self._living_max:
            raise HostFull(f"{living} containers of gradings live on this host, and there may be no more.")
        shutil.rmtree(directory / "etc", ignore_errors=True)  # each file in there is shown: only what is made here
        self._launch(sandbox_id, directory, sandbox.spec)

    def end(self, sandbox_id: str) -> None:
        """Remove its container, from any state. Idempotent; the folder is its maker's."""
        self._directory(sandbox_id)
        self._kill(sandbox_id)

    def remove_left(self, *, older_than_s: float = LEFT_AFTER_S) -> None:
        """Remove what nobody will: containers without a folder, and folders whose launcher ended with its maker."""
        self.remove_unknown()
        for sandbox in self.adopt({}):
            if time.time() - self.specified_at(sandbox.id) < older_than_s:
                continue
            if self.state(sandbox.id) is not SandboxState.RUNNING:
                logger.warning("removing the sandbox %s: who made it is gone", sandbox.id)
                try:
                    self.destroy(sandbox.id)
                except (SandboxError, OSError):
                    logger.exception("the sandbox %s could not be removed; the next look tries again", sandbox.id)

    def _check(self, mounts: Sequence[Mount]) -> None:
        for mount in mounts:
            source = mount.source.resolve()
            if not mount.read_only or not any(source.is_relative_to(folder) for folder in self._shown):
                raise SandboxSpecProblem(
                    f"{mount.source} cannot be shown at {mount.target} in a container that is lent."
                )

    def _count(self) -> int:
        try:
            with self._asking() as client:
                return len(client.containers(quiet=True, filters={"label": f"{LABEL}.state={self.mark}"}))
        except APIError as error:
            raise RuntimeUnusable(f"Docker does not say which containers live: {error}") from error
