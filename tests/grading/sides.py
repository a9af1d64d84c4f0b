"""Unsandboxed stand-ins for both sides of a replay, for tests of the orchestration alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from fdegym.lib.errors import FdegymError
from grading.frames import Channel
from grading.replay import ReplayTask
from scenarios.kit.load import load_scenario
from workspaces.runtime.base import StepResult

ROOT = Path(__file__).resolve().parents[2]
TINY = Path(__file__).parent / "scenario_tiny"


class SandboxLost(FdegymError):
    """The stand-in for a sandbox that died."""


def tiny_task(task: str = "original", **changes) -> ReplayTask:
    scenario = load_scenario(TINY)
    values = {
        "scenario": scenario.id,
        "task": task,
        "facts": scenario.facts_of(task),
        "salt": "",
        "limits": scenario.config.replay,
        "incidents": frozenset(scenario.config.incidents),
    }
    return ReplayTask(**{**values, **changes})


@contextmanager
def local_scenario_side(directory: Path, scenario: Path = TINY, *, timeout_s: float = 30.0):
    """The real scenario host as a plain child process, seeing only what the sandbox would show it."""
    view = directory / "view"
    (view / "scenarios").mkdir(parents=True)
    (view / "grading").symlink_to(ROOT / "grading")
    (view / "scenarios" / "kit").symlink_to(ROOT / "scenarios" / "kit")
    (view / "scenarios" / scenario.name).symlink_to(scenario)
    child = subprocess.Popen(
        [sys.executable, "-u", "-m", "grading.scenario_host"],
        cwd=view,
        env={"PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        yield Channel(child.stdout.fileno(), child.stdin.fileno(), timeout_s=timeout_s)
    finally:
        child.kill()
        child.stdin.close()
        child.stdout.close()
        child.wait()


class LocalDeployment:
    """Runs entry points as plain subprocesses in a directory. For deliveries that mean no harm."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.steps: list[tuple[str, ...]] = []
        self.limits = []

    def put(self, path, data):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def put_drop(self, name, files):
        folder = self.root.parent / "drops" / name
        folder.mkdir(parents=True, exist_ok=True)
        for path, data in files.items():
            (folder / path).write_bytes(data)
        return str(folder)

    def step(self, argv, limits):
        self.steps.append(argv)
        self.limits.append(limits)
        begun = time.monotonic()
        command = [sys.executable, *argv[1:]]
        done = subprocess.run(command, cwd=self.root, capture_output=True, timeout=limits.wall_s, check=False)
        wall_s = time.monotonic() - begun
        failure = "exit" if done.returncode else None
        return StepResult(done.returncode, failure, wall_s, wall_s, 10.0, done.stdout, done.stderr)

    def read(self, path, max_bytes):
        target = self.root / path
        if not target.is_file() or target.stat().st_size > max_bytes:
            return None
        return target.read_bytes()

    def list_files(self, path, max_entries):
        folder = self.root / path
        return sorted(entry.name for entry in folder.iterdir())[:max_entries] if folder.is_dir() else []


class ScriptedDeployment(LocalDeployment):
    """Ends every call as a script says: a failure word, None for success, or an exception."""

    def __init__(self, root: Path, outcome, *, cpu_s: float = 0.0, wall_s: float = 0.0) -> None:
        super().__init__(root)
        self._outcome, self._cpu_s, self._wall_s = outcome, cpu_s, wall_s

    def step(self, argv, limits):
        self.steps.append(argv)
        self.limits.append(limits)
        failure = self._outcome(argv)
        if isinstance(failure, Exception):
            raise failure
        return StepResult(1 if failure else 0, failure, self._cpu_s, self._wall_s, 1.0, b"", b"last words")
