"""Which runtime a host uses, and making it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workspaces.runtime.launched import LauncherRuntime

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
