"""The product under test, whole: the supervisor and its five processes, with a PostgreSQL and a Redis of their own.

As root its directory is a small file system of its own, which can be filled.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import re
import shutil
import signal
import socket
import sqlite3
import stat
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from grading.processes import is_alive
from tests.deployment.servers import Postgres, Redis, postgres_programs
from tests.e2e.stack import Stack

DISK_MB = 512
DATABASE = "chaos"
#: A server that is killed must keep what it has confirmed. (Only a power cut would need fsync.)
KILLED_POSTGRES_KEEPS = {"synchronous_commit": "on", "full_page_writes": "on"}

PREPARE = """
from django.core.management import call_command
call_command("migrate", interactive=False, verbosity=0)
call_command("createcachetable", verbosity=0)
call_command("collectstatic", interactive=False, verbosity=0)
from fdegym.catalog.scenarios import get_scenario
from grading.worlds import ensure_world
from stakeholders.matching import warm_matcher
scenario = get_scenario("{scenario}")
for task in scenario.config.offered:
    ensure_world(scenario, task)
warm_matcher(scenario)
"""


@dataclass
class Process:
    """One process of the machine."""

    id: int
    parent: int
    command: str


def processes() -> list[Process]:
    """All that can be seen, zombies left out."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if state != "Z":
                    found.append(Process(int(entry.name), int(parent), command))
    return found


@dataclass
class Product(Stack):
    """``embedded``: SQLite and a broker of files instead of the two servers, as `make run` has it."""

    embedded: bool = False
    postgres: Postgres | None = None
    redis: Redis | None = None
    has_own_disk: bool = False

    def environment(self, **further: str) -> dict[str, str]:
        servers = {}
        if self.postgres is not None and self.redis is not None:
            servers = {"DATABASE_URL": self.postgres.url(DATABASE), "REDIS_URL": self.redis.url}
        return super().environment(**servers, **further)

    # ---- life

    def begin(self, scenario: str) -> None:
        """Everything from an empty directory to a site that answers."""
        self.take_disk()
        if not self.embedded:
            programs = postgres_programs()
            if programs is None or shutil.which("redis-server") is None:
                raise RuntimeError("PostgreSQL and Redis are needed (Debian: postgresql, redis-server), or --embedded")
            self.postgres, self.redis = Postgres(programs), Redis()
            self.postgres.settings |= KILLED_POSTGRES_KEEPS
            self.postgres.start()
            self.redis.start()
            self.postgres.create_database(DATABASE)
        done = self.manage("shell", "-v", "0", "-c", PREPARE.format(scenario=scenario))
        if done.returncode:
            raise RuntimeError(f"the product could not be prepared:\n{done.stdout}{done.stderr}")
        self.start()

    def take_disk(self) -> None:
        """A file system for the var directory; only root can make one."""
        if os.geteuid() != 0:
            return
        self.var.mkdir()
        user = pwd.getpwnam("fdegym")
        options = f"size={DISK_MB}m,mode=700,uid={user.pw_uid},gid={user.pw_gid}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "fdegym-chaos", str(self.var)], check=True)
        self.has_own_disk = True

    def end(self) -> None:
        """Leave nothing: workspaces, processes, servers, file system, directory."""
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            self.end_workspaces()
        self.stop()
        for process in self.sandboxes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.id, signal.SIGKILL)
        for server in (self.postgres, self.redis):
            if server is not None:
                server.remove()
        if self.has_own_disk:
            subprocess.run(["umount", "--lazy", str(self.var)], check=False)
        shutil.rmtree(self.directory, ignore_errors=True)

    # ---- processes

    def pid_of(self, name: str) -> int:
        """Id of the site, desk, gateway, keeper, worker, of the worker's scheduler or of a process of it that grades."""
        if name not in ("scheduler", "grader"):
            return self.processes()[name]
        worker = self.processes()["worker"]
        for child in [each.id for each in processes() if each.parent == worker]:
            if (name == "scheduler") == self._has_open(child, self.var / "beat-schedule"):
                return child
        raise KeyError(name)

    @staticmethod
    def _has_open(process: int, path: Path) -> bool:
        with contextlib.suppress(OSError):
            for entry in Path(f"/proc/{process}/fd").iterdir():
                with contextlib.suppress(OSError):
                    if str(entry.readlink()).startswith(str(path)):
                        return True
        return False

    def sandboxes(self) -> list[Process]:
        """bubblewrap's processes of this product, workspaces' and graders'."""
        return [each for each in processes() if "bwrap" in each.command and str(self.var) in each.command]

    # ---- what it keeps

    @property
    def sockets(self) -> Path:
        return self.var / "run"

    def select(self, query: str) -> list[tuple[Any, ...]]:
        """Rows of the database; raises ``OSError`` or a database's error where it is away."""
        if self.postgres is not None:
            with psycopg.connect(host=str(self.postgres.directory), user="fdegym", dbname=DATABASE) as connection:
                return list(connection.execute(query.encode()).fetchall())
        with contextlib.closing(
            sqlite3.connect(f"file:{self.var / 'fdegym.sqlite3'}?mode=ro", uri=True, timeout=5)
        ) as database:
            return list(database.execute(query).fetchall())

    def dump(self, kept_file: str, within_s: float) -> Path:
        """A file with everything that is stored (``stored.load``), written by the product's own user."""
        target = self.var / "stored.json"
        code = f"from ops.chaos.stored import dump; dump({str(target)!r}, {kept_file!r})"
        done = self.manage("shell", "-v", "0", "-c", code, timeout_s=within_s)
        if done.returncode:
            raise RuntimeError(f"what is stored cannot be read:\n{done.stdout}{done.stderr}")
        return target


class Orphans:
    """What belongs to nobody, and since when. A look costs some milliseconds; whatever lasts too long is kept."""

    def __init__(self, product: Product, longest_s: float = 60.0) -> None:
        self._product = product
        self._longest_s = longest_s
        self._since: dict[str, float] = {}
        self.seen: dict[str, float] = {}  #: every orphan there ever was → for how long, in seconds

    def look(self) -> None:
        """Raises what the database raises while it is away."""
        now, found = time.monotonic(), set(self._now())
        self._since = {what: self._since.get(what, now) for what in found}
        for what, since in self._since.items():
            self.seen[what] = max(self.seen.get(what, 0.0), now - since)

    def present(self) -> list[str]:
        return sorted(self._since)

    def overdue(self) -> list[str]:
        """Those that stayed, or stay, for too long."""
        return [f"{what}, for {lasted:.0f} s" for what, lasted in sorted(self.seen.items()) if lasted > self._longest_s]

    def _now(self) -> Iterator[str]:
        runs = {str(run).replace("-", "") for (run,) in self._product.select("SELECT id FROM runs_run")}
        yield from self._workspaces(runs)
        yield from self._processes()
        yield from self._graders()
        yield from self._leases()
        yield from self._sockets(runs)

    def _workspaces(self, runs: set[str]) -> Iterator[str]:
        for entry in self._entries(self._product.var / "sandboxes"):
            if not entry.name.startswith(("_", ".")) and entry.name.replace("-", "") not in runs:
                yield f"workspace {entry.name} without a run"

    def _processes(self) -> Iterator[str]:
        for process in self._product.sandboxes():
            for kind in ("sandboxes", "grading"):
                directory = self._product.var / kind
                named = set(re.findall(rf"{re.escape(str(directory))}/([^/_. ][^/ ]*)/", process.command))
                for name in sorted(name for name in named if not (directory / name).exists()):
                    yield f"process {process.id} of the sandbox {name}, which is gone"
        for process in processes():
            if process.parent == 1 and "celery" in process.command and str(self._product.var) in process.command:
                yield f"process {process.id} of a worker that is gone"

    def _graders(self) -> Iterator[str]:
        """Sandboxes in which a delivery is graded say who grades."""
        for spec in (self._product.var / "grading").glob("*/spec.json"):
            with contextlib.suppress(OSError, ValueError, KeyError):
                by = json.loads(spec.read_text())["labels"]["by"]
                if not is_alive(by, self._product.var):
                    yield f"sandbox {spec.parent.name} of the grader {by}, which is gone"

    def _leases(self) -> Iterator[str]:
        query = "SELECT id FROM grading_submission WHERE state = 'grading' AND lease_until < {now}"
        now = "now()" if self._product.postgres is not None else "strftime('%Y-%m-%d %H:%M:%f', 'now')"
        for (submission,) in self._product.select(query.format(now=now)):
            yield f"lease of submission {submission}, whose worker is dead"

    def _sockets(self, runs: set[str]) -> Iterator[str]:
        for folder in ("", "desk", "gateway"):
            for entry in self._entries(self._product.sockets / folder):
                yield from self._dead_socket(entry)
        for folder in ("desk", "gateway"):
            for place in self._entries(self._product.sockets / folder):
                if place.is_dir():
                    for entry in self._entries(place):
                        yield from self._dead_socket(entry)
                    if len(place.name) == 36 and place.name.replace("-", "") not in runs:
                        yield f"directory {folder}/{place.name} without a run"

    def _dead_socket(self, path: Path) -> Iterator[str]:
        try:
            if not stat.S_ISSOCK(path.lstat().st_mode):
                return
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                probe.settimeout(2)
                probe.connect(str(path))
        except ConnectionRefusedError:
            yield f"socket {path.relative_to(self._product.sockets)} that nobody answers"
        except OSError:
            return  # removed meanwhile, or its owner is busy

    @staticmethod
    def _entries(directory: Path) -> list[Path]:
        try:
            return sorted(directory.iterdir())
        except OSError:
            return []
