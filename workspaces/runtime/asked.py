"""Docker's sandboxes for a process that may not have the daemon's socket: the keeper of its host is asked for each.

All that a sandbox is lies in its folder, as with every runtime here, and its launcher is reached directly: the keeper is
needed to start and to remove a container, and not while it lives. A keeper that is gone for a while harms no sandbox.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NoReturn

from fdegym.lib.errors import ServiceUnavailable
from workspaces.keeper.client import KeeperClient
from workspaces.runtime.base import RuntimeReport, SandboxSpec, SandboxState
from workspaces.runtime.control import Control
from workspaces.runtime.errors import RuntimeUnusable, SandboxError, SandboxGone, SandboxStartFailed
from workspaces.runtime.launched import LauncherRuntime

FOLDER = "grading-containers"  #: in the site's directory: the sandboxes that the keeper lends containers
ANSWER_S = 150.0  #: the keeper starts a few at once, and gives the daemon and the launcher 30 s each
EXIT_S = 5.0


def _raise(said: dict[str, Any]) -> NoReturn:
    """What a refusing answer stands for: that this host cannot at all now, or that this one sandbox did not start."""
    kind, text = str(said.get("kind")), str(said.get("error"))
    if kind in ("RuntimeUnusable", "HostFull"):
        raise RuntimeUnusable(text)
    if kind == "request":
        raise RuntimeUnusable(f"The keeper of this host lends no containers, or is of another release. {text}")
    raise SandboxStartFailed(text)


class AskedRuntime(LauncherRuntime):
    """Implements ``workspaces.runtime.base.SandboxRuntime``. ``keeper`` is its socket; ``state_dir`` is the directory of
    which that keeper lends containers (``workspaces.keeper.lending``)."""

    name = "docker"

    def __init__(self, state_dir: Path, keeper: Path) -> None:
        super().__init__(state_dir)
        self._keeper = KeeperClient(keeper, timeout_s=ANSWER_S, refuse=_raise)

    def report(self) -> RuntimeReport:
        try:
            return RuntimeReport(**self._ask("lending_report")["report"])
        except RuntimeUnusable as problem:
            return RuntimeReport(self.name, False, str(problem), {})

    def _ask(self, operation: str, **fields: Any) -> dict[str, Any]:
        try:
            return self._keeper.request(operation, **fields)[0]
        except ServiceUnavailable as error:
            raise RuntimeUnusable(
                f"The keeper, which makes this host's containers, does not answer at {self._keeper.path}: start it."
            ) from error

    def _launch(self, sandbox_id: str, directory: Path, spec: SandboxSpec) -> None:
        self._ask("lend", sandbox=sandbox_id)

    def _kill(self, sandbox_id: str) -> None:
        with self._guard:
            known = self._sandboxes.get(sandbox_id)
        if known is not None:
            known.close_connections()
        try:
            self._ask("take_back", sandbox=sandbox_id)
        except SandboxError:  # no keeper, no daemon, or one that fails
            self._tell_to_exit(sandbox_id)

    def _tell_to_exit(self, sandbox_id: str) -> None:
        """Where nobody removes the container: the launcher ends, and all with it. The keeper removes what is left later."""
        try:
            with Control(self._directory(sandbox_id) / "control") as control:
                control.request({"op": "exit"}, timeout_s=EXIT_S)
        except SandboxGone:
            return
        if not self._wait_gone(sandbox_id, EXIT_S):
            raise SandboxError("The sandbox does not end, and the keeper could not remove it.")

    def _wait_gone(self, sandbox_id: str, wait_s: float) -> bool:
        deadline = time.monotonic() + wait_s
        while self.state(sandbox_id) is SandboxState.RUNNING:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True
