"""Sandboxes for a scenario's own code: its world and its grader see the kit, their folder and numpy, and no network.

Installing a scenario is an operator's act; that its code runs confined all the same keeps a slip of an author, or a
parser's weakness against a delivery's output, from reaching the site.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol

import grading
import scenarios.kit
from fdegym import lib
from fdegym.lib.errors import FdegymError
from grading.frames import Channel
from scenarios.kit.errors import Problem, ScenarioInvalid
from scenarios.kit.load import Scenario
from workspaces.runtime.base import Limits, Mount, SandboxSpec
from workspaces.runtime.layout import interpreter_mounts

APP = "/srv/app"
OUT = "/srv/out"
BUILD_WALL_S = 300.0
SILENCE_S = 300.0  #: longest that scenario code may compute without asking for anything
MEMORY_MB = 3072
MESSAGE_BYTES = 8_000


class WorldUnbuilt(FdegymError):
    """A scenario's world could not be built: our fault. Nothing half-built is kept."""

    http_status = 503


class ProcessRuntime(Protocol):
    """A runtime that can also hold a long conversation with trusted code."""

    def open_process(
        self, argv: list[str], spec: SandboxSpec, *, stderr: int | IO[bytes] | None
    ) -> subprocess.Popen[bytes]: ...


def _folder(package: object) -> Path:
    return Path(str(package.__file__)).parent  # type: ignore[attr-defined]


def trusted_spec(scenario: Scenario, *further: Mount, environment: Mapping[str, str] | None = None) -> SandboxSpec:
    """What scenario code sees: the interpreter with its libraries, the kit, the scenario's folder.

    ``environment`` is added to its own: by such variables admission lets it run as on another machine.
    """
    mounts = [
        *interpreter_mounts(Path(sys.executable)),
        Mount(_folder(grading), f"{APP}/grading"),
        Mount(_folder(scenarios.kit), f"{APP}/scenarios/kit"),
        Mount(scenario.folder, f"{APP}/scenarios/{scenario.id}"),
        Mount(_folder(lib), f"{APP}/fdegym/lib"),
        *further,
    ]
    variables = {
        "PYTHONPATH": APP,
        "PYTHONDONTWRITEBYTECODE": "1",
        # one thread: the same sums on every machine, and no address space for idle ones
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        **(environment or {}),
    }
    return SandboxSpec(
        limits=Limits(memory_mb=MEMORY_MB, processes=64, disk_mb=256),
        mounts=mounts,
        environment=variables,
        writable=(),
        working_directory=APP,
        hostname="scenario",
    )


@contextmanager
def scenario_side(
    runtime: ProcessRuntime, scenario: Scenario, *, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[Channel, IO[bytes]]]:
    """Start ``grading.scenario_host`` for a scenario: its channel, and a file that holds what it says on stderr."""
    with tempfile.TemporaryFile() as stderr:
        argv = [sys.executable, "-u", "-m", "grading.scenario_host"]
        child = runtime.open_process(argv, trusted_spec(scenario, environment=environment), stderr=stderr)
        assert child.stdin is not None  # noqa: S101 - pipes were asked for
        assert child.stdout is not None  # noqa: S101
        try:
            yield Channel(child.stdout.fileno(), child.stdin.fileno(), timeout_s=SILENCE_S), stderr
        finally:
            child.kill()
            child.stdin.close()
            child.stdout.close()
            child.wait(30)


def tail(stream: IO[bytes], limit: int = MESSAGE_BYTES) -> str:
    """The end of what a process said."""
    size = stream.seek(0, 2)
    stream.seek(max(0, size - limit))
    return stream.read(limit).decode("utf-8", "replace")


def build_in_sandbox(
    runtime: ProcessRuntime,
    scenario: Scenario,
    task_id: str,
    salt: str,
    out: Path,
    *,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run ``scenarios.kit.build`` with its output in ``out``. Raises ``ScenarioInvalid`` or ``WorldUnbuilt``."""
    folder = f"{APP}/scenarios/{scenario.id}"
    request = json.dumps({"folder": folder, "task": task_id, "salt": salt, "out": OUT}).encode()
    spec = trusted_spec(scenario, Mount(out, OUT, read_only=False), environment=environment)
    with tempfile.TemporaryFile() as stderr:
        child = runtime.open_process([sys.executable, "-m", "scenarios.kit.build"], spec, stderr=stderr)
        try:
            said, _ = child.communicate(request, timeout=BUILD_WALL_S)
        except subprocess.TimeoutExpired as slow:
            raise WorldUnbuilt(
                f"The world of {scenario.id} took longer than {BUILD_WALL_S:.0f} s; nothing of it is kept."
            ) from slow
        finally:
            child.kill()
            child.wait(30)
        if child.returncode == 0 and (out / "meta.json").is_file():
            return  # else the world's code ended the process before the end, and half a world would be kept
        problems = _problems(said)
        if problems:
            raise ScenarioInvalid(scenario.id, problems)
        said_last = tail(stderr).strip()
        why = said_last.rpartition("\n")[2] or "its code ended the process"
        raise WorldUnbuilt(f"The world of {scenario.id} could not be built, nothing of it is kept: {why}\n{said_last}")


def _problems(said: bytes) -> list[Problem]:
    try:
        rows = json.loads(said.splitlines()[-1])["problems"]
        return [Problem(str(file), str(place), str(text)) for file, place, text in rows]
    except (ValueError, LookupError, TypeError):
        return []
