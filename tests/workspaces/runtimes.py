"""The real runtimes that the tests of this folder run on, each as this host has it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from docker.api.client import APIClient

from tests.waiting import until
from workspaces.runtime.bubblewrap import BubblewrapRuntime
from workspaces.runtime.docker import API_VERSION, DockerRuntime
from workspaces.runtime.launched import LauncherRuntime

RUNTIMES = ("bubblewrap", "docker")
#: The address of a daemon's socket that this user may use; the file that appears when it may (``ops/docker_for_tests.py``).
DAEMON, READY = "DOCKER_FOR_TESTS", "DOCKER_FOR_TESTS_READY"
IMAGE = "fdegym-workspace:1"
BUILT_WITHIN_S = 900.0


def unusable(why: str | None) -> None:
    """A test is skipped where a runtime cannot work; in CI none may be."""
    (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(str(why))


def runtime_of(name: str, state_dir: Path) -> LauncherRuntime:
    """A runtime with this state directory, tried."""
    made: LauncherRuntime
    if name == "docker":
        docker_is_ready()
        made = DockerRuntime(state_dir, image=IMAGE, daemon=os.environ[DAEMON])
    else:
        made = BubblewrapRuntime(state_dir)
    report = made.report()
    if not report.usable:
        unusable(report.problem)
    return made


def docker_is_ready() -> None:
    """Wait for the daemon that root started for the tests, and for its image; without one the test is skipped."""
    if not os.environ.get(DAEMON):
        unusable("needs a Docker daemon: root's `make test` starts one where docker.io is installed")
    if os.environ.get(READY):
        ready = Path(os.environ[READY])
        until(ready.exists, "the image of workspaces is built", within_s=BUILT_WITHIN_S)
        if problem := ready.read_text():
            unusable(problem)


@contextlib.contextmanager
def runtime_of_a_file(name: str) -> Iterator[LauncherRuntime]:
    """For the tests of a file together: in a directory that every user can walk to, with short paths for sockets."""
    directory = Path(tempfile.mkdtemp(prefix="fw-", dir="/tmp"))
    made = runtime_of(name, directory)
    yield made
    for sandbox in made.adopt({}):
        made.destroy(sandbox.id)
    shutil.rmtree(directory, ignore_errors=True)


def another(runtime: LauncherRuntime) -> LauncherRuntime:
    """One that another process would have: with the same state directory and no memory of its own."""
    return runtime_of(runtime.name, runtime.state_dir)


def kill(runtime: LauncherRuntime, sandbox_id: str) -> None:
    """As somebody on the host would who does not ask the runtime."""
    if isinstance(runtime, DockerRuntime):
        client = APIClient(base_url=runtime.daemon, version=API_VERSION, timeout=60)
        client.kill(f"fdegym-{runtime.mark}-{sandbox_id}")
        client.close()
        return
    assert isinstance(runtime, BubblewrapRuntime)
    for pid in runtime._living(sandbox_id):
        os.kill(pid, signal.SIGKILL)
