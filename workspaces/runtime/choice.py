"""Which runtime a host uses, and making it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workspaces.runtime.launched import LauncherRuntime

if TYPE_CHECKING:
    from workspaces.runtime.lent import LentContainers

RUNTIMES = ("bubblewrap", "docker")


@dataclass(frozen=True, slots=True)
class RuntimeChoice:
    """``name`` is one of ``RUNTIMES``; ``daemon`` (the address of Docker's socket) and ``image`` count for Docker alone."""

    name: str = "bubblewrap"
    daemon: str = "unix:///var/run/docker.sock"
    image: str = "fdegym-workspace:1"

    def make(self, state_dir: Path) -> LauncherRuntime:
        """The runtime with this state directory. A stopped sandbox of one can be started by the other."""
        if self.name == "docker":
            from workspaces.runtime.docker import DockerRuntime  # half a second, and only the keeper needs it

            return DockerRuntime(state_dir, image=self.image, daemon=self.daemon)
        from workspaces.runtime.bubblewrap import BubblewrapRuntime

        return BubblewrapRuntime(state_dir)

    def make_lent(self, state_dir: Path, shown: Sequence[Path]) -> LentContainers | None:
        """What makes containers for sandboxes of other processes in this directory, if this host has containers."""
        if self.name != "docker":
            return None
        from workspaces.runtime.lent import LentContainers

        return LentContainers(state_dir, image=self.image, daemon=self.daemon, shown=shown)
