"""The servers of a deployment, started once for all tests that need them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployment.servers import Postgres, Redis, postgres_programs

#: Only root can give a host a network of its own.
collect_ignore = [] if os.geteuid() == 0 else ["test_two_hosts.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All in one process of a parallel run: the servers are started once."""
    for item in items:
        if Path(__file__).parent in item.path.parents and {"postgres", "redis"} & set(item.fixturenames):
            item.add_marker(pytest.mark.xdist_group("deployment"))


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A short path in place of pytest's long one: with that, sockets would be made outside of it and stay behind."""
    path = Path(tempfile.mkdtemp(prefix="fdd-", dir="/tmp"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


def need(present: object, what: str) -> None:
    """Where something is missing a test is skipped with the reason; in CI nothing may be missing."""
    if not present:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(f"needs {what}")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    programs = postgres_programs()
    need(programs, "PostgreSQL's programs (Debian: postgresql)")
    server = Postgres(programs)  # type: ignore[arg-type]
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    need(shutil.which("redis-server"), "redis-server")
    server = Redis()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def sandboxes_work() -> None:
    need(shutil.which("bwrap"), "bubblewrap")
    tried = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True, check=False)
    need(tried.returncode == 0, "user namespaces for bubblewrap")
