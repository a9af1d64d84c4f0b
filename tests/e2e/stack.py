"""The product as `make run` starts it: the real supervisor and its five processes, with a port and directory of its own."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenarios.kit.cache import ensure_task
from scenarios.kit.load import find_scenario
from scenarios.kit.solutions import Solution, load_solution
from tests.waiting import until

CHECKOUT = Path(__file__).resolve().parents[2]
READY_WITHIN_S = 90.0

#: How a process of the supervisor is known by its command line.
MARKS = {"site": "uvicorn", "desk": "desk", "gateway": "gateway", "keeper": "workspaces.keeper", "worker": "celery"}

END_WORKSPACES = """
from fdegym.runs.models import Run
from workspaces.services import destroy_workspace
for run_id in Run.objects.values_list("pk", flat=True):
    destroy_workspace(str(run_id))
"""


MADE_BY_SETUP = CHECKOUT / "var" / "worlds"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def clean_environment(**further: str) -> dict[str, str]:
    """What a person's shell has: nothing of this test session's own settings."""
    ours = ("FDEGYM_", "DJANGO_", "PYTEST_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    for name in ("REDIS_URL", "WORLD_SALT", "SCENARIO_DIRS", "DATABASE_URL", "PYTHONPATH", "PYTHONPYCACHEPREFIX"):
        kept.pop(name, None)
    return kept | {"PYTHONDONTWRITEBYTECODE": "1"} | further


def own_directory(prefix: str) -> Path:
    """A short directory (unix sockets lie below it) that belongs to the user the product runs as."""
    made = Path(tempfile.mkdtemp(prefix=prefix, dir="/tmp"))
    if os.geteuid() == 0:
        user = pwd.getpwnam("fdegym")
        os.chown(made, user.pw_uid, user.pw_gid)
    made.chmod(0o755)
    return made


@dataclass
class Stack:
    """One running product. ``directory`` holds its var directory and what the supervisor printed."""

    directory: Path
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def var(self) -> Path:
        return self.directory / "var"

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def said(self) -> str:
        """What the supervisor printed so far."""
        path = self.directory / "supervisor"
        return path.read_text(errors="replace") if path.exists() else ""

    def environment(self, **further: str) -> dict[str, str]:
        return clean_environment(FDEGYM_VAR=str(self.var), FDEGYM_PORT=str(self.port), **further)

    def manage(self, *arguments: str, given: str = "", timeout_s: float = 280) -> subprocess.CompletedProcess[str]:
        """``python3 manage.py …`` as a person types it."""
        return subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=CHECKOUT,
            env=self.environment(),
            input=given,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    # ---- life

    def take_worlds(self, *, but: int = 0) -> None:
        """Copy the worlds that ``make setup`` has built, all ``but`` so many of them: two dozen take a minute to build."""
        worlds = self.var / "worlds"
        if not MADE_BY_SETUP.is_dir() or worlds.exists():
            return
        self.var.mkdir(mode=0o700, exist_ok=True)
        shutil.copytree(MADE_BY_SETUP, worlds, ignore=shutil.ignore_patterns("building-*"))
        for world in sorted(worlds.glob("*/meta.json"))[:but]:
            shutil.rmtree(world.parent)
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "fdegym:", str(self.var)], check=True)

    def prepare(self) -> None:
        self.take_worlds()
        done = self.manage("prepare")
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> None:
        with (self.directory / "supervisor").open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "ops/supervisor.py"],
                cwd=CHECKOUT,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
        process = self.process

        def ready() -> bool:
            assert process.poll() is None, f"the supervisor ended: {self.said}"
            return "ready at" in self.said

        until(ready, "the supervisor says that it is ready", within_s=READY_WITHIN_S)
        self.until_everything_answers()

    def start_in_vain(self) -> subprocess.CompletedProcess[str]:
        """A start that must fail: one that succeeds does not end."""
        return subprocess.run(
            [sys.executable, "ops/supervisor.py"],
            cwd=CHECKOUT,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(20)
        self.process = None

    def end_workspaces(self) -> None:
        """Sandboxes outlive their keeper on purpose; those of tests end here."""
        if self.process and self.process.poll() is None:
            done = self.manage("shell", "-c", END_WORKSPACES)
            assert done.returncode == 0, done.stderr

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    # ---- its processes

    def processes(self) -> dict[str, int]:
        """Name → process id of the supervisor's own children, read from /proc."""
        assert self.process
        found = {}
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                command = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if parent != self.process.pid:
                continue
            found |= {name: int(entry.name) for name, mark in MARKS.items() if mark in command}
        return found

    def kill(self, name: str) -> int:
        """``kill -9`` of one process; the supervisor starts it again. Gives the id that is no more."""
        victim = self.processes()[name]
        os.kill(victim, signal.SIGKILL)
        until(lambda: self.processes().get(name, victim) != victim, f"{name} is started again")
        return victim

    def orphans(self) -> list[str]:
        """Command lines of this stack's workers whose parent is gone."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                command = (entry / "cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
            except OSError:
                continue
            if parent == 1 and MARKS["worker"] in command and str(self.var) in command:
                found.append(f"{entry.name} {command}")
        return found

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}/health/", timeout=2) as reply:
                return bool(reply.status == 200)
        except OSError:
            return False

    def _socket_answers(self, path: Path) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(2)
            try:
                probe.connect(str(path))
            except OSError:
                return False
        return True

    def until_everything_answers(self) -> None:
        run = self.var / "run"
        for path in (run / "keeper.sock", run / "desk" / "site.sock"):
            # as another user (root looks at a private directory of the product's) sockets are asked all the same
            until(lambda path=path: self._socket_answers(path), f"{path.name} answers", within_s=READY_WITHIN_S)
        until(self.answers, "the site answers", within_s=READY_WITHIN_S)

    # ---- what it keeps

    def rows(self, query: str, *values: Any) -> list[dict[str, Any]]:
        """Rows of the site's database, read only."""
        with sqlite3.connect(f"file:{self.var / 'fdegym.sqlite3'}?mode=ro", uri=True, timeout=20) as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(query, values)]

    def run_row(self, run_id: str) -> dict[str, Any]:
        return self.rows("SELECT * FROM runs_run WHERE id = ?", run_id.replace("-", ""))[0]

    def events(self, run_id: str, kind: str = "") -> list[dict[str, Any]]:
        """The run's log in order: ``{seq, kind, payload}`` of the kinds that begin with ``kind``."""
        query = "SELECT seq, kind, payload FROM runs_runevent WHERE run_id = ? AND kind LIKE ? ORDER BY seq"
        found = self.rows(query, run_id.replace("-", ""), f"{kind}%")
        return [{**event, "payload": json.loads(event["payload"])} for event in found]

    def submissions(self, run_id: str) -> list[dict[str, Any]]:
        return self.rows("SELECT * FROM grading_submission WHERE run_id = ?", run_id.replace("-", ""))

    def grades(self, run_id: str) -> list[dict[str, Any]]:
        query = "SELECT g.* FROM grading_grade g JOIN grading_submission s ON g.submission_id = s.id WHERE s.run_id = ?"
        return self.rows(f"{query} ORDER BY g.number", run_id.replace("-", ""))

    def solution(self, run_id: str, name: str) -> Solution:
        """A scripted solution with the words that fit this run's task, as somebody who read its world would write them."""
        run = self.run_row(run_id)
        scenario = find_scenario(run["scenario_id"], [CHECKOUT / "scenarios"])
        task = ensure_task(scenario, run["task_id"], salt="", cache=self.var / "worlds", builder=_no_builder)
        return load_solution(task, name)


def _no_builder(*_of_what: object) -> None:
    raise AssertionError("the stack has built this world already")


def files_of(solution: Solution) -> Mapping[str, bytes]:
    """Path below ``system/`` → content, later overlays over earlier ones."""
    found: dict[str, bytes] = {}
    for folder in solution.overlays:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found
