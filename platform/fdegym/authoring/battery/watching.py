"""Standing between a replay and its deployment: reads what the attack reports, and counts what outlives its call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from fdegym.authoring.battery.laying import REPORT
from fdegym.authoring.battery.witness import HostWitness, pids_of
from grading.deployment import SandboxDeployment
from grading.replay import Deployment
from grading.worlds import deployment_runtime
from workspaces.runtime.base import CallLimits, StepResult
from workspaces.runtime.errors import SandboxFileProblem
from workspaces.runtime.sandbox import LaunchedSandbox

REPORT_BYTES = 1 << 20
#: Time limits for entries that run into them on purpose: how they hold is tried, not how long the scenario's are.
SHORT_CPU_S, SHORT_WALL_S = 4.0, 16.0


class WatchedCalls:
    """What was seen of an entry's calls. ``reports``: sandbox → the attack's report as last read."""

    def __init__(self, witness: HostWitness, *, short: bool) -> None:
        self._witness = witness
        self.short = short
        self.reports: dict[str, bytes] = {}
        self.survivors = 0  #: calls after which a process still ran
        self.places: list[Path] = []  #: of the host, that must be gone afterwards

    def watch(self, deployment: Deployment) -> Deployment:
        """For ``grading.measure``: the same deployment, looked at after each call."""
        if not isinstance(deployment, SandboxDeployment) or not isinstance(deployment.sandbox, LaunchedSandbox):
            raise TypeError("only a delivery in a sandbox can be watched")
        directory = deployment_runtime().state_dir / deployment.sandbox.id
        self._witness.note_sandbox(deployment.sandbox.id, pids_of(directory))
        self.places += [directory, deployment.drops]
        return _Watched(deployment, deployment.sandbox, self)

    def look(self, sandbox: LaunchedSandbox) -> None:
        """After a call: the report so far, and whether anything still runs."""
        try:
            self.reports[sandbox.id] = sandbox.read_beginning(REPORT, max_bytes=REPORT_BYTES)
        except SandboxFileProblem:
            self.reports.setdefault(sandbox.id, b"")
        self.survivors += sandbox.usage()["processes"] > 0


class _Watched:
    """``grading.replay.Deployment`` over another one."""

    def __init__(self, deployment: SandboxDeployment, sandbox: LaunchedSandbox, calls: WatchedCalls) -> None:
        self._deployment, self._sandbox, self._calls = deployment, sandbox, calls

    def step(self, argv: tuple[str, ...], limits: CallLimits) -> StepResult:
        if self._calls.short:
            limits = replace(limits, cpu_s=min(limits.cpu_s, SHORT_CPU_S), wall_s=min(limits.wall_s, SHORT_WALL_S))
        result = self._deployment.step(argv, limits)
        self._calls.look(self._sandbox)
        return result

    def put(self, path: str, data: bytes) -> None:
        self._deployment.put(path, data)

    def put_drop(self, name: str, files: Mapping[str, bytes]) -> str:
        return self._deployment.put_drop(name, files)

    def read(self, path: str, max_bytes: int) -> bytes | None:
        return self._deployment.read(path, max_bytes)

    def list_files(self, path: str, max_entries: int) -> list[str]:
        return self._deployment.list_files(path, max_entries)
