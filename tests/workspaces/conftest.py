"""Real sandboxes for the tests of this folder, each in a state directory of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from keeper_process import KeeperProcess

from tests.workspaces.runtimes import RUNTIMES, runtime_of, runtime_of_a_file
from workspaces import services
from workspaces.materials import WorkspaceMaterials
from workspaces.runtime.base import Limits, SandboxSpec
from workspaces.runtime.bubblewrap import BubblewrapRuntime
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.sandbox import LaunchedSandbox

#: Their tests lend cgroups, become other users and start a daemon, which only root can.
collect_ignore = [] if os.geteuid() == 0 else ["test_enforcement_as_root.py", "test_dockerd_restarts.py"]


@pytest.fixture
def state_dir() -> Iterator[Path]:
    """Not pytest's own: every user must be able to walk to it, and socket paths are short."""
    directory = Path(tempfile.mkdtemp(prefix="fw-", dir="/tmp"))
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture(params=RUNTIMES)
def runtime(state_dir: Path, request: pytest.FixtureRequest) -> Iterator[LauncherRuntime]:
    made = runtime_of(request.param, state_dir)
    yield made
    for sandbox in made.adopt({}):
        made.destroy(sandbox.id)


@pytest.fixture
def start(runtime: LauncherRuntime) -> Callable[..., LaunchedSandbox]:
    """Create and start a sandbox: ``start("name", spec)``."""

    def starting(name: str = "one", spec: SandboxSpec | None = None) -> LaunchedSandbox:
        runtime.create(name, spec or SandboxSpec())
        return runtime.start(name)

    return starting


@pytest.fixture
def sandbox(start: Callable[..., LaunchedSandbox]) -> LaunchedSandbox:
    return start()


@pytest.fixture(scope="module", params=RUNTIMES)
def shared_runtime(request: pytest.FixtureRequest) -> Iterator[LauncherRuntime]:
    """For tests that only look: one for all of a file."""
    with runtime_of_a_file(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def inside(shared_runtime: LauncherRuntime) -> LaunchedSandbox:
    """Started with a secret in its maker's environment and an open file at hand, neither of which may come through."""
    leaked = os.open("/etc/passwd", os.O_RDONLY)
    os.set_inheritable(leaked, True)
    os.environ["SECRET_OF_THE_HOST"] = "hunter2"
    try:
        shared_runtime.create("inside", SandboxSpec(hostname="depot.example.org", environment={"GIVEN": "yes"}))
        return shared_runtime.start("inside")
    finally:
        os.close(leaked)
        del os.environ["SECRET_OF_THE_HOST"]


@pytest.fixture(scope="module")
def neighbour(shared_runtime: LauncherRuntime) -> LaunchedSandbox:
    shared_runtime.create("neighbour", SandboxSpec())
    return shared_runtime.start("neighbour")


@pytest.fixture
def keeper(state_dir: Path, settings: Any, request: pytest.FixtureRequest) -> Iterator[KeeperProcess]:
    process = KeeperProcess(state_dir, *getattr(request, "param", ()))
    process.start()
    settings.KEEPER_SOCKET = process.socket
    yield process
    process.end()
    runtime = BubblewrapRuntime(process.state_dir)
    for sandbox in runtime.adopt({}):
        runtime.destroy(sandbox.id)


@pytest.fixture
def materials(state_dir: Path) -> WorkspaceMaterials:
    system, docs, desk = state_dir / "system", state_dir / "docs", state_dir / "desk"
    for directory in (system, docs, desk):
        directory.mkdir()
    (system / "main.py").write_text("print('as found')\n")
    (docs / "handbook.md").write_text("# Handbook\n")
    return WorkspaceMaterials(
        read_only={"/workspace/docs": docs},
        seed={"/workspace/system": system},
        desk_socket_dir=desk,
        hostname="depot",
        limits=Limits(memory_mb=300, disk_mb=32),
    )


@pytest.fixture
def open_run(keeper: KeeperProcess, materials: WorkspaceMaterials) -> Callable[[], str]:
    def opening() -> str:
        run_id = str(uuid.uuid4())
        services.open_workspace(run_id, materials)
        return run_id

    return opening
