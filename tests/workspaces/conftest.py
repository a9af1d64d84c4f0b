"""Real sandboxes for the tests of this folder, each in a state directory of its own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workspaces.runtime.base import SandboxSpec
from workspaces.runtime.bubblewrap import BubblewrapRuntime
from workspaces.runtime.sandbox import LaunchedSandbox


@pytest.fixture
def state_dir() -> Iterator[Path]:
    """Not pytest's own: every user must be able to walk to it, and socket paths are short."""
    directory = Path(tempfile.mkdtemp(prefix="fw-", dir="/tmp"))
    yield directory
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def runtime(state_dir: Path) -> Iterator[BubblewrapRuntime]:
    made = BubblewrapRuntime(state_dir)
    report = made.report()
    if not report.usable:
        pytest.skip(report.problem or "no sandbox")
    yield made
    for sandbox in made.adopt({}):
        made.destroy(sandbox.id)


@pytest.fixture
def start(runtime: BubblewrapRuntime) -> Callable[..., LaunchedSandbox]:
    """Create and start a sandbox: ``start("name", spec)``."""

    def starting(name: str = "one", spec: SandboxSpec | None = None) -> LaunchedSandbox:
        runtime.create(name, spec or SandboxSpec())
        return runtime.start(name)

    return starting


@pytest.fixture
def sandbox(start: Callable[..., LaunchedSandbox]) -> LaunchedSandbox:
    return start()
