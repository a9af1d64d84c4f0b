"""What the runtimes share whose sandboxes our launcher runs: everything but the namespaces around it.

All that such a runtime knows lies under its state directory, one folder for each sandbox, so that another process, or
this one after it was killed, finds the same sandboxes::

    <id>/spec.json      what it was made from
    <id>/storage.tar    its files: as seeded, then as of the last snapshot
    <id>/control/       the launcher's socket
"""

from __future__ import annotations

import abc
import contextlib
import fcntl
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from workspaces.runtime import layout, spec_file
from workspaces.runtime.base import RuntimeReport, SandboxSpec, SandboxState
from workspaces.runtime.control import Control
from workspaces.runtime.errors import (
    SandboxBusy,
    SandboxError,
    SandboxExists,
    SandboxGone,
    SandboxMissing,
    SandboxSpecProblem,
)
from workspaces.runtime.sandbox import LaunchedSandbox

PATH_SHOWN = 160  #: characters of a path in words for people
GONE_WITHIN_S = 2.0


class LauncherRuntime(abc.ABC):
    """Implements ``workspaces.runtime.base.SandboxRuntime`` but for what makes and ends the launcher's process."""

    name: str

    def __init__(self, state_dir: Path) -> None:
        self.state_dir = Path(state_dir).resolve()
        self.state_dir.mkdir(parents=True, exist_ok=True)
        self._sandboxes: dict[str, LaunchedSandbox] = {}
        self._guard = threading.Lock()

    # what each runtime does in its own way

    @abc.abstractmethod
    def report(self) -> RuntimeReport:
        """What it can do on this host."""

    @abc.abstractmethod
    def _launch(self, sandbox_id: str, directory: Path, spec: SandboxSpec) -> None:
        """Start the launcher; it answers when this returns. Raises ``SandboxStartFailed`` and leaves nothing running."""

    @abc.abstractmethod
    def _kill(self, sandbox_id: str) -> None:
        """End whatever of the sandbox still lives, from any state. Idempotent."""

    @abc.abstractmethod
    def _wait_gone(self, sandbox_id: str, wait_s: float) -> bool:
        """Whether nothing of it lives any more within so many seconds."""

    # the contract

    def create(self, sandbox_id: str, spec: SandboxSpec) -> LaunchedSandbox:
        directory = self._directory(sandbox_id)
        layout.writable_directories(spec)
        layout.checked_mounts(spec.mounts)
        if directory.exists():
            raise SandboxExists(f"A sandbox {sandbox_id} exists already.")
        building = self.state_dir / f"_new-{sandbox_id}-{os.getpid()}-{threading.get_ident()}"
        shutil.rmtree(building, ignore_errors=True)
        try:
            building.mkdir(mode=0o700)
            for name in ("storage", "shm"):
                (building / name).mkdir()
            layout.write_etc(building / "etc", spec.hostname)
            spec_file.write_spec(building / "spec.json", spec)
            spec_file.write_seed(building / "storage.tar", spec)
            try:
                building.rename(directory)
            except OSError as error:
                raise SandboxExists(f"A sandbox {sandbox_id} exists already.") from error
        finally:
            shutil.rmtree(building, ignore_errors=True)
        return self._sandbox(sandbox_id)

    def start(self, sandbox_id: str) -> LaunchedSandbox:
        sandbox = self._sandbox(sandbox_id)
        with self._locked(sandbox_id) as directory:
            if self.state(sandbox_id) is SandboxState.RUNNING:
                return sandbox
            self._kill(sandbox_id)
            self._launch(sandbox_id, directory, sandbox.spec)
        return sandbox

    def get(self, sandbox_id: str) -> LaunchedSandbox | None:
        return self._sandbox(sandbox_id) if (self._directory(sandbox_id) / "spec.json").exists() else None

    def adopt(self, labels: Mapping[str, str]) -> list[LaunchedSandbox]:
        found = []
        for file in sorted(self.state_dir.glob("*/spec.json")):
            if file.parent.name.startswith("_"):
                continue
            with contextlib.suppress(SandboxMissing):
                sandbox = self._sandbox(file.parent.name)
                if labels.items() <= sandbox.spec.labels.items():
                    found.append(sandbox)
        return found

    def destroy(self, sandbox_id: str) -> None:
        directory = self._directory(sandbox_id)
        if not directory.exists():
            return
        with self._locked(sandbox_id):
            self._kill(sandbox_id)
            (directory / "spec.json").unlink(missing_ok=True)
            shutil.rmtree(directory, ignore_errors=True)
        with self._guard:
            self._sandboxes.pop(sandbox_id, None)

    # more than the contract

    def state(self, sandbox_id: str) -> SandboxState:
        """Asked of the launcher itself, never remembered."""
        directory = self._directory(sandbox_id)
        if not (directory / "spec.json").exists():
            return SandboxState.GONE
        try:
            with Control(directory / "control", connect_timeout_s=5) as control:
                control.request({"op": "hello"}, timeout_s=5)
        except SandboxGone:
            return SandboxState.STOPPED if (directory / "control").exists() else SandboxState.CREATED
        except SandboxError:
            return SandboxState.RUNNING  # it lives, but is too busy to say so
        return SandboxState.RUNNING

    def respecify(self, sandbox_id: str, spec: SandboxSpec) -> None:
        """Give a sandbox that is not running another specification; its stored files stay as they are."""
        layout.writable_directories(spec)
        with self._locked(sandbox_id) as directory:
            if self.state(sandbox_id) is SandboxState.RUNNING:
                raise SandboxBusy("A running sandbox keeps its specification: stop it first.")
            layout.write_etc(directory / "etc", spec.hostname)
            spec_file.write_spec(directory / "spec.json", spec)

    def specified_at(self, sandbox_id: str) -> float:
        """When it was created or last given a specification, in epoch seconds; 0 for one that is gone."""
        try:
            return (self._directory(sandbox_id) / "spec.json").stat().st_mtime
        except OSError:
            return 0.0

    def remove_half_made(self, *, older_than_s: float = 0.0) -> None:
        """Remove what processes left behind that were killed while they made or helped a sandbox.

        Where makers may live that cannot be seen from here, in other containers: only what is ``older_than_s``.
        """
        newest = time.time() - older_than_s
        for directory in [*self.state_dir.glob("_new-*"), *self.state_dir.glob("_process-*")]:
            maker = directory.name.split("-")[-2]
            with contextlib.suppress(FileNotFoundError):  # finished or removed meanwhile
                if maker.isdecimal() and not Path("/proc", maker).exists() and directory.stat().st_mtime <= newest:
                    shutil.rmtree(directory, ignore_errors=True)

    def checkpoint(self, sandbox_id: str) -> None:
        """Save the files of a running sandbox, so that they survive the loss of the host's memory."""
        sandbox = self._sandbox(sandbox_id)
        kept = [path for path in layout.writable_directories(sandbox.spec) if path != "/tmp"]  # noqa: S108
        target = self._directory(sandbox_id) / "storage.tar"
        max_bytes = sandbox.spec.limits.disk_mb << 20
        report = sandbox.snapshot(target, paths=kept, base="/", max_bytes=max_bytes, faithful=True)
        unsaved = [(f"/{path}", reason) for path, reason in report.skipped if reason != "special"]
        if unsaved:
            with contextlib.suppress(SandboxError):  # of an older launcher, say: the files are saved all the same
                sandbox.say(_words_about(unsaved))

    def stop(self, sandbox_id: str) -> None:
        """End all processes, save the files, let the namespaces go. A sandbox that cannot be saved goes on running."""
        sandbox = self._sandbox(sandbox_id)
        with self._locked(sandbox_id):
            if self.state(sandbox_id) is not SandboxState.RUNNING:
                self._kill(sandbox_id)
                return
            with contextlib.suppress(SandboxGone):
                sandbox.quiesce()
                try:
                    self.checkpoint(sandbox_id)
                except SandboxGone:
                    raise
                except (SandboxError, OSError):
                    sandbox.resume()
                    raise
                sandbox.ask({"op": "exit"})
            sandbox.close_connections()
            self._wait_gone(sandbox_id, GONE_WITHIN_S)
            self._kill(sandbox_id)

    # how

    def _directory(self, sandbox_id: str) -> Path:
        if not sandbox_id.replace("-", "").replace("_", "").isalnum() or sandbox_id[0] in "_-" or len(sandbox_id) > 64:
            raise SandboxSpecProblem(
                f"{sandbox_id!r} cannot be a sandbox's id: letters, digits, '-' and '_', at most 64."
            )
        return self.state_dir / sandbox_id

    def _sandbox(self, sandbox_id: str) -> LaunchedSandbox:
        directory = self._directory(sandbox_id)
        try:
            spec = spec_file.parse_spec(json.loads((directory / "spec.json").read_text()))
        except (OSError, ValueError) as error:
            raise SandboxMissing(f"There is no sandbox {sandbox_id} on this host.") from error
        with self._guard:
            known = self._sandboxes.get(sandbox_id)
            if known is None or known.spec != spec:
                known = LaunchedSandbox(sandbox_id, directory / "control", spec, self.state)
                known.stopper = self.stop
                self._sandboxes[sandbox_id] = known
            return known

    @contextlib.contextmanager
    def _locked(self, sandbox_id: str) -> Iterator[Path]:
        """One change of state at a time for each sandbox, across threads and processes."""
        directory = self._directory(sandbox_id)
        try:
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise SandboxMissing(f"There is no sandbox {sandbox_id} on this host.") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield directory
        finally:
            os.close(descriptor)


def _words_about(unsaved: Sequence[tuple[str, str]]) -> str:
    path, reason = unsaved[0]
    shown = path if len(path) <= PATH_SHOWN else f"{path[: PATH_SHOWN // 2]}…{path[-PATH_SHOWN // 2 :]}"
    more = f", and {len(unsaved) - 1:,} more" if len(unsaved) > 1 else ""
    return f"What cannot be saved is gone when the workspace stops: {shown} ({reason}){more}."
