"""A deployment without a sandbox: for tests and tuning on a developer's machine, never for a stranger's code."""

from __future__ import annotations

import os
import resource
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from scenarios.kit.world import CallOutcome

CALL_WALL_S = 240


class LocalHost:
    """Runs entry points as subprocesses in ``system`` (a copy that the caller made). A ``DeploymentHost``.

    ``cpu_s`` and ``calls`` add up what the replay used; ``env`` is the environment of every call.
    """

    def __init__(self, system: Path, on_progress: Callable[[int, int, str], None] | None = None) -> None:
        self.system = system
        self.calls = 0
        self.failures: list[tuple[list[str], bytes]] = []
        self.steps_told: list[str] = []
        self._on_progress = on_progress
        self.env = {"PATH": os.defpath, "PYTHONHASHSEED": "0", "TZ": "UTC", "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8"}

    @property
    def cpu_s(self) -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def put(self, path: str, data: bytes) -> None:
        target = self.system / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def put_drop(self, name: str, files: Mapping[str, bytes]) -> str:
        folder = self.system.parent / "drops" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for file_name, data in files.items():
            (folder / file_name).write_bytes(data)
        return str(folder)

    def call(self, argv: list[str]) -> CallOutcome:
        self.calls += 1
        command = [sys.executable, *argv[1:]] if argv[0] == "python" else argv
        try:
            done = subprocess.run(
                command, cwd=self.system, env=self.env, capture_output=True, timeout=CALL_WALL_S, check=False
            )
        except subprocess.TimeoutExpired:
            return CallOutcome(-1, "wall_limit", b"", b"")
        failure = None if done.returncode == 0 else "signal" if done.returncode < 0 else "exit"
        if failure:
            self.failures.append((argv, done.stderr[-2_000:]))
        return CallOutcome(done.returncode, failure, done.stdout, done.stderr)

    def read(self, path: str, max_bytes: int) -> bytes | None:
        try:
            descriptor = os.open(self.system / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > max_bytes:
                return None
            return file.read(max_bytes)

    def list(self, path: str, max_entries: int) -> list[str]:
        try:
            with os.scandir(self.system / path) as entries:
                names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        except OSError:
            return []
        return sorted(names)[:max_entries]

    def progress(self, done: int, total: int, what: str) -> None:
        self.steps_told.append(what)
        if self._on_progress:
            self._on_progress(done, total, what)
