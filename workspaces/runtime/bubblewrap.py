"""The bubblewrap runtime: sandboxes from Linux namespaces, for an ordinary user, without a daemon.

Beside what ``launched`` keeps of each sandbox, ``<id>/process.json`` holds the host pids of a running one, with their
start times.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from workspaces.runtime import layout, limits, seccomp, usable
from workspaces.runtime.base import RuntimeReport, SandboxSpec
from workspaces.runtime.control import Control, listen
from workspaces.runtime.errors import (
    RuntimeUnusable,
    SandboxError,
    SandboxSpecProblem,
    SandboxStartFailed,
)
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.sandbox import limits_for_children

START_TIMEOUT_S = 20.0
SKELETON = "_skeleton"


def _start_time(pid: int) -> str | None:
    """When a process started, in the kernel's ticks: with the pid it names a process for good."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


class BubblewrapRuntime(LauncherRuntime):
    """Implements ``workspaces.runtime.base.SandboxRuntime``."""

    name = "bubblewrap"

    def __init__(self, state_dir: Path, *, enforcement: limits.ControlGroups | limits.Watcher | None = None) -> None:
        super().__init__(state_dir)
        layout.write_skeleton(self.state_dir / SKELETON)
        self.enforcement = enforcement or limits.find_enforcement()
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    # the contract

    def report(self) -> RuntimeReport:
        problem = usable.problem_with_bubblewrap(self.state_dir / SKELETON)
        enforced = {
            **self.enforcement.enforced_by(),
            "disk": "file system",
            "inodes": "file system",
            "shm": "file system",
        }
        return RuntimeReport(self.name, problem is None, problem, {**enforced, "open_files": "rlimit"})

    # more than the contract

    def open_process(
        self, argv: Sequence[str], spec: SandboxSpec, *, stderr: int | IO[bytes] | None = subprocess.PIPE
    ) -> subprocess.Popen[bytes]:
        """Start a long-lived helper in a sandbox of its own, without a launcher, and talk to it over its pipes.

        For code that is ours or an operator's, the worlds and graders of scenarios: it has a writable /tmp and home,
        the read-only mounts of ``spec`` (see ``layout.interpreter_mounts`` for a virtual environment), no network, the
        limits of ``spec`` for each process, and ends with its parent. ``spec.seed`` must be empty.
        """
        if spec.seed:
            raise SandboxSpecProblem("A helper process has no stored files: show them by mounts.")
        problem = usable.problem_with_bubblewrap(self.state_dir / SKELETON)
        if problem is not None:
            raise RuntimeUnusable(problem)
        scratch = self.state_dir / f"_process-{os.getpid()}-{os.urandom(6).hex()}"
        for name in ("storage", "shm", "terminals"):
            (scratch / name).mkdir(parents=True)
        layout.write_etc(scratch / "etc", spec.hostname)
        filter_fd = seccomp.filter_descriptor()
        try:
            bwrap = layout.sandbox_arguments(
                spec, self._places(scratch), seccomp_fd=filter_fd, info_fd=2, new_pid_1=False
            )
            place = bwrap.index("--info-fd")
            del bwrap[place : place + 2]
            bwrap[bwrap.index("--chdir") + 1] = spec.working_directory
            bwrap += ["--die-with-parent", "--", *argv]
            command = layout.first_stage(spec, self._places(scratch), limits.ControlGroup(), spec.limits, bwrap)
            limited = ["prlimit", f"--as={spec.limits.memory_mb << 20}", f"--nofile={spec.limits.open_files}"]
            child = subprocess.Popen(
                [*limited, *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                pass_fds=(filter_fd,),
                start_new_session=True,
                cwd="/",
                # bubblewrap itself is seen in there as PID 1: what stands in its environment can be read
                env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"},
            )
        finally:
            os.close(filter_fd)
        threading.Thread(target=_remove_after, args=(child, scratch), daemon=True).start()
        return child

    # how

    def _group_name(self, sandbox_id: str) -> str:
        """Of the sandbox's cgroup: several runtimes of a host share the tree, and may use the same ids."""
        return f"{sandbox_id}-{hashlib.sha256(os.fsencode(self.state_dir)).hexdigest()[:10]}"

    def _places(self, directory: Path) -> layout.Places:
        skeleton = self.state_dir / SKELETON
        return layout.Places(
            directory / "storage",
            directory / "shm",
            directory / "etc",
            skeleton / "local",
            skeleton / "empty",
            skeleton / "nothing",
            directory / "terminals",
        )

    def _launch(self, sandbox_id: str, directory: Path, spec: SandboxSpec) -> None:
        problem = usable.problem_with_bubblewrap(self.state_dir / SKELETON)
        if problem is not None:
            raise RuntimeUnusable(problem)
        for name in ("storage", "shm", "terminals"):
            (directory / name).mkdir(exist_ok=True)
        for unfinished in directory.glob(".storage.tar.*"):  # of a saving that was killed
            unfinished.unlink(missing_ok=True)
        listening = listen(directory / "control")
        filter_fd = seccomp.filter_descriptor()
        info_read, info_write = os.pipe()
        memory_events: int | None = None
        try:
            group = self.enforcement.create(self._group_name(sandbox_id), spec.limits)
            memory_events = group.memory_events()
            settings = {
                "id": sandbox_id,
                "listening": listening.fileno(),
                "writable": layout.writable_directories(spec),
                "bounds": limits_for_children(spec),
                "watch_memory_mb": spec.limits.memory_mb,
                "memory_events": memory_events,
                "abandon_after_s": spec.abandon_after_s,
            }
            spec_seen = _with_launcher(spec)
            bwrap = layout.sandbox_arguments(
                spec_seen, self._places(directory), seccomp_fd=filter_fd, info_fd=info_write, new_pid_1=True
            )
            bwrap += ["--", *layout.launcher_command(settings)]
            command = layout.first_stage(spec_seen, self._places(directory), group, spec.limits, bwrap)
            with (directory / "storage.tar").open("rb") as stored, (directory / "start.log").open("wb") as log:
                child = subprocess.Popen(
                    command,
                    stdin=stored,
                    stdout=subprocess.DEVNULL,
                    stderr=log,
                    pass_fds=(listening.fileno(), filter_fd, info_write, *([memory_events] if memory_events else [])),
                    start_new_session=True,
                    cwd="/",
                    env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"},
                )
        finally:
            listening.close()
            for descriptor in (filter_fd, info_write, memory_events):
                if descriptor is not None:
                    os.close(descriptor)
        self._children[sandbox_id] = child
        try:
            self._note_processes(directory, child.pid, info_read)
            with Control(directory / "control") as control:
                control.request({"op": "hello"}, timeout_s=START_TIMEOUT_S)
        except (SandboxError, OSError, ValueError) as error:
            self._kill(sandbox_id)
            # the last line is the reason; what led to it stays in the file, for operators
            said = (directory / "start.log").read_text(errors="replace").strip().rpartition("\n")[2][-300:]
            raise SandboxStartFailed(f"The sandbox could not be started: {said or error}") from error
        finally:
            os.close(info_read)

    @staticmethod
    def _note_processes(directory: Path, outer: int, info_read: int) -> None:
        with os.fdopen(os.dup(info_read)) as stream:
            told = stream.read()
        pids = [outer] + ([int(json.loads(told)["child-pid"])] if told.strip() else [])
        noted = [{"pid": pid, "started": _start_time(pid)} for pid in pids]
        temporary = directory / ".process.json"
        temporary.write_text(json.dumps(noted))
        temporary.replace(directory / "process.json")

    def _living(self, sandbox_id: str) -> list[int]:
        try:
            noted = json.loads((self._directory(sandbox_id) / "process.json").read_text())
        except (OSError, ValueError):
            noted = []
        child = self._children.get(sandbox_id)
        if child is not None and child.poll() is not None:
            del self._children[sandbox_id]
        return [each["pid"] for each in noted if each["started"] and _start_time(each["pid"]) == each["started"]]

    def _wait_gone(self, sandbox_id: str, wait_s: float) -> bool:
        deadline = time.monotonic() + wait_s
        while self._living(sandbox_id):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True

    def _kill(self, sandbox_id: str) -> None:
        """End whatever of the sandbox still lives, from any state. PID 1 takes all others with it."""
        with self._guard:
            known = self._sandboxes.get(sandbox_id)
        if known is not None:
            known.close_connections()
        for pid in reversed(self._living(sandbox_id)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        child = self._children.pop(sandbox_id, None)
        if child is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(5)
        if not self._wait_gone(sandbox_id, 5.0):
            raise SandboxError("Processes of the sandbox cannot be ended; try again.")
        self.enforcement.find(self._group_name(sandbox_id)).remove()
        (self._directory(sandbox_id) / "process.json").unlink(missing_ok=True)


def _with_launcher(spec: SandboxSpec) -> SandboxSpec:
    return replace(spec, mounts=(*spec.mounts, layout.launcher_mount()))


def _remove_after(child: subprocess.Popen[bytes], scratch: Path) -> None:
    child.wait()
    shutil.rmtree(scratch, ignore_errors=True)
