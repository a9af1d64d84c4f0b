"""Runtimes for tests, each named by how it fails. What works in them does nothing but remember."""

from __future__ import annotations

import time
from collections.abc import Mapping

from workspaces.runtime.base import RuntimeReport, SandboxSpec, SandboxState
from workspaces.runtime.errors import SandboxExists, SandboxGone, SandboxMissing, SandboxStartFailed


class RememberedSandbox:
    """A sandbox without anything inside."""

    def __init__(self, sandbox_id: str, spec: SandboxSpec) -> None:
        self.id = sandbox_id
        self.spec = spec
        self.now = SandboxState.CREATED

    def state(self) -> SandboxState:
        return self.now

    def stop(self) -> None:
        self.now = SandboxState.STOPPED


class RuntimeThatOnlyRemembers:
    """Creates, starts and destroys names. The base of the failing ones."""

    name = "remembered"

    def __init__(self) -> None:
        self.sandboxes: dict[str, RememberedSandbox] = {}

    def report(self) -> RuntimeReport:
        return RuntimeReport(self.name, True, None, {})

    def create(self, sandbox_id: str, spec: SandboxSpec) -> RememberedSandbox:
        if sandbox_id in self.sandboxes:
            raise SandboxExists(f"A sandbox {sandbox_id} exists already.")
        self.sandboxes[sandbox_id] = RememberedSandbox(sandbox_id, spec)
        return self.sandboxes[sandbox_id]

    def start(self, sandbox_id: str) -> RememberedSandbox:
        if sandbox_id not in self.sandboxes:
            raise SandboxMissing(f"There is no sandbox {sandbox_id} on this host.")
        self.sandboxes[sandbox_id].now = SandboxState.RUNNING
        return self.sandboxes[sandbox_id]

    def get(self, sandbox_id: str) -> RememberedSandbox | None:
        return self.sandboxes.get(sandbox_id)

    def adopt(self, labels: Mapping[str, str]) -> list[RememberedSandbox]:
        return [each for each in self.sandboxes.values() if labels.items() <= each.spec.labels.items()]

    def destroy(self, sandbox_id: str) -> None:
        self.sandboxes.pop(sandbox_id, None)


class RuntimeThatIsNotInstalled(RuntimeThatOnlyRemembers):
    """Its report says what is missing; nothing can be started."""

    def report(self) -> RuntimeReport:
        return RuntimeReport(self.name, False, "The command bwrap is missing: install the package bubblewrap.", {})

    def start(self, sandbox_id: str) -> RememberedSandbox:
        raise SandboxStartFailed("The sandbox could not be started: bwrap is missing.")


class RuntimeWhoseFirstStartFails(RuntimeThatOnlyRemembers):
    """The first start of each sandbox fails and leaves nothing behind; the next one works (FC-58, FC-71)."""

    def __init__(self) -> None:
        super().__init__()
        self._tried: set[str] = set()

    def start(self, sandbox_id: str) -> RememberedSandbox:
        if sandbox_id not in self._tried:
            self._tried.add(sandbox_id)
            raise SandboxStartFailed("The sandbox could not be started: tried too early.")
        return super().start(sandbox_id)


class RuntimeThatStartsSlowly(RuntimeThatOnlyRemembers):
    """Takes ``delay_s`` for every start (FC-79)."""

    def __init__(self, delay_s: float) -> None:
        super().__init__()
        self.delay_s = delay_s

    def start(self, sandbox_id: str) -> RememberedSandbox:
        time.sleep(self.delay_s)
        return super().start(sandbox_id)


class RuntimeWhoseSandboxesDie(RuntimeThatOnlyRemembers):
    """Starts, but whoever looks again finds the sandbox dead: not a failed command."""

    def get(self, sandbox_id: str) -> RememberedSandbox | None:
        raise SandboxGone(f"Sandbox {sandbox_id} died.")
