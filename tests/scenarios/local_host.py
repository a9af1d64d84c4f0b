"""A deployment without a sandbox: for tests and tuning on a developer's machine, never for a stranger's code."""

from __future__ import annotations

# what a fork server has imported before its first call
import argparse  # noqa: F401
import csv  # noqa: F401
import io
import os
import resource
import runpy
import shutil
import sqlite3  # noqa: F401
import stat
import sys
import tempfile
import tomllib  # noqa: F401
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NoReturn

from scenarios.kit.world import CallOutcome

CALL_CPU_S = 60


class LocalHost:
    """Runs entry points as processes in ``system`` (a copy that the caller made). A ``DeploymentHost``.

    ``cpu_s`` and ``calls`` add up what the replay used.
    """

    def __init__(self, system: Path, on_progress: Callable[[int, int, str], None] | None = None) -> None:
        self.system = system
        self.calls = 0
        self.failures: list[tuple[list[str], bytes]] = []
        self.steps_told: list[str] = []
        self._on_progress = on_progress
        self.cpu_s = 0.0

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
        """Run ``python -m MODULE …`` in a forked child, as the fork server of the real deployment does."""
        self.calls += 1
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            child = os.fork()
            if child == 0:
                self._become(argv, out.fileno(), err.fileno())
            _, status, used = os.wait4(child, 0)
            self.cpu_s += used.ru_utime + used.ru_stime
            code = os.waitstatus_to_exitcode(status)
            failure = None if code == 0 else "signal" if code < 0 else "exit"
            out.seek(0)
            err.seek(0)
            outcome = CallOutcome(code, failure, out.read(), err.read())
        if failure:
            self.failures.append((argv, outcome.stderr[-2_000:]))
        return outcome

    def _become(self, argv: list[str], out: int, err: int) -> NoReturn:
        """The child's life: never returns into the test."""
        code = 1
        try:
            os.dup2(out, 1)
            os.dup2(err, 2)
            sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="utf-8")
            sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), encoding="utf-8")
            resource.setrlimit(resource.RLIMIT_CPU, (CALL_CPU_S, CALL_CPU_S))
            os.chdir(self.system)
            sys.path = [str(self.system), *(path for path in sys.path if path.startswith(sys.base_prefix))]
            sys.argv = argv[2:]
            runpy.run_module(argv[2], run_name="__main__", alter_sys=True)
            code = 0
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
        except BaseException:  # noqa: BLE001 - whatever delivered code raises is its own failure
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def read(self, path: str, max_bytes: int) -> bytes | None:
        try:
            descriptor = os.open(self.system / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > max_bytes:
                return None
            return os.read(descriptor, max_bytes)
        finally:
            os.close(descriptor)

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
