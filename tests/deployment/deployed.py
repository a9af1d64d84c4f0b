"""A deployed site in real processes: its worker, its web server, and what somebody does there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from tests.deployment.servers import Postgres, Redis
from tests.e2e.stack import own_directory
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
ACT = ROOT / "tests" / "deployment" / "act.py"


class DeployedSite:
    """Processes that share one database and one broker. ``directory`` holds their var and their logs.

    ``within`` is a command in front of each of theirs, ``further`` is added to their environment.
    """

    def __init__(
        self, postgres: Postgres, redis: Redis, name: str, *, within: Sequence[str] = (), **further: str
    ) -> None:
        self.postgres, self.redis, self.name, self.within = postgres, redis, name, within
        self.directory = own_directory("fdds-")
        postgres.create_database(name)
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("FDEGYM_", "PYTEST_"))}
        self.environment = kept | {
            "FDEGYM_VAR": str(self.var),
            "DATABASE_URL": postgres.url(name),
            "REDIS_URL": redis.url,
            "SCENARIO_DIRS": str(ROOT / "tests" / "grading"),
            "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
            "DJANGO_SETTINGS_MODULE": "fdegym.settings",
            "PYTHONDONTWRITEBYTECODE": "1",
            **further,
        }
        self._running: list[subprocess.Popen[bytes]] = []
        self._worker: subprocess.Popen[bytes] | None = None
        self.act("prepare")

    @property
    def var(self) -> Path:
        return self.directory / "var"

    def act(self, *arguments: object) -> list[str]:
        """Run ``act.py``; the words it prints."""
        command = [*self.within, sys.executable, str(ACT), *map(str, arguments)]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.split()

    def submit(self, **options: object) -> int:
        """``act.submit`` with these options; the submission's number."""
        return int(self.act("submit", json.dumps(options))[0])

    def ask(self, sql: str) -> str:
        return self.postgres.ask(self.name, sql)

    def row(self, submission: int) -> dict[str, str]:
        """State, attempts, step, grades and the run's state, as the database has them now."""
        names = ("state", "attempts", "step", "grades", "run")
        values = self.ask(
            "select s.state, s.attempts, s.progress->>'step', (select count(*) from grading_grade g where "
            "g.submission_id = s.id), r.state from grading_submission s join runs_run r on r.id = s.run_id "
            f"where s.id = {submission}"
        )
        return dict(zip(names, values.split("|"), strict=True))

    def until_graded(self, submission: int, *, within_s: float = 90.0) -> None:
        over = ("graded", "void")
        until(lambda: self.row(submission)["state"] in over, self._what_was_logged, within_s=within_s, every_s=0.3)

    def until_step(self, submission: int, step: str) -> None:
        until(lambda: self.row(submission)["step"] == step, self._what_was_logged, within_s=90, every_s=0.3)

    def _what_was_logged(self) -> str:
        logged = "\n".join(f"{path.stem}:\n{self.log(path.stem)[-4000:]}" for path in self.directory.glob("*.log"))
        return f"the submission's end; logged:\n{logged}"

    def log(self, name: str) -> str:
        return (self.directory / f"{name}.log").read_text(errors="replace")

    # ---- processes

    def _start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.directory / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [*self.within, sys.executable, "-m", *arguments],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._running.append(process)
        return process

    def start_worker(self) -> None:
        """A worker with its scheduler, as `docs/hosting.md` starts it; returns when it takes messages."""
        ready = "celery@" if not (self.directory / "worker.log").exists() else None
        before = 0 if ready else self.log("worker").count(" ready.")
        options = ["-B", "-s", str(self.directory / "beat"), "--concurrency", "2", "--loglevel", "INFO"]
        self._worker = self._start("worker", "celery", "-A", "tests.deployment.hasty", "worker", *options)
        until(lambda: self.log("worker").count(" ready.") > before, "the worker is ready", within_s=60)

    def tell_worker_to_stop(self) -> None:
        """SIGTERM to the worker's first process, as every deployment sends it."""
        assert self._worker is not None
        self._worker.terminate()

    def until_worker_ended(self) -> int:
        """Its exit status, when it and all its children are gone."""
        worker = self._worker
        assert worker is not None
        status = worker.wait(120)
        until(lambda: not living_members(worker.pid), "the worker's children and its scheduler are gone")
        return status

    def kill_worker(self) -> None:
        """``kill -9`` of the worker alone, as a machine short of memory does it; its children have to notice."""
        assert self._worker is not None
        self._worker.kill()
        self._worker.wait(20)
        until(lambda: not living_members(self._worker.pid), "the worker's children and its scheduler are gone")

    def start_web(self) -> str:
        """A web server on a free port; gives its address."""
        self.act("static")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._start("web", "uvicorn", "fdegym.asgi:application", "--port", str(port), "--lifespan", "off")
        address = f"http://127.0.0.1:{port}"
        until(lambda: get(f"{address}/health/")[0] == 200, "the site answers", within_s=60)
        return address

    def remove(self) -> None:
        for process in self._running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(20)
        shutil.rmtree(self.directory, ignore_errors=True)


def living_members(group: int) -> list[int]:
    """Processes of a process group that still do something."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                state, _, of_group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(of_group) == group and state != "Z":
                found.append(int(entry.name))
    return found


def get(address: str) -> tuple[int, str]:
    """Status and text of a page; (0, …) when nobody answers."""
    try:
        with urllib.request.urlopen(address, timeout=30) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()
    except OSError as problem:
        return 0, str(problem)
