"""What a run's workspace is made of, as the use cases give it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fdegym.gateway.places import INSIDE
from workspaces.places import PERSON
from workspaces.runtime.base import Limits, Mount, SandboxSpec

DESK_TARGET = "/run/desk"


@dataclass(frozen=True, slots=True)
class WorkspaceMaterials:
    """Targets are absolute paths inside. ``read_only`` is shown as it is on the host, ``seed`` is copied once."""

    read_only: Mapping[str, Path]
    seed: Mapping[str, Path]
    desk_socket_dir: Path  #: shown as /run/desk; the directory, so that a restarted desk is found again
    gateway_socket_dir: Path | None = None  #: shown as /run/gateway, in the same way, where there is one
    hostname: str = "workspace"
    limits: Limits = field(default_factory=Limits)
    environment: Mapping[str, str] = field(default_factory=dict)
    person: str = ""  #: whose it is; "" for a command's
    begun_at: float = 0.0  #: seconds of the epoch: its place among those who wait for a workspace

    def spec(self, run_id: str) -> SandboxSpec:
        """The sandbox that these make for a run."""
        mounts = [Mount(source, target) for target, source in sorted(self.read_only.items())]
        mounts.append(Mount(self.desk_socket_dir, DESK_TARGET))
        if self.gateway_socket_dir is not None:
            mounts.append(Mount(self.gateway_socket_dir, INSIDE))
        return SandboxSpec(
            limits=self.limits,
            mounts=tuple(mounts),
            seed=dict(self.seed),
            environment=dict(self.environment),
            hostname=self.hostname,
            labels={"kind": "workspace", "run": run_id, **({PERSON: self.person} if self.person else {})},
        )
