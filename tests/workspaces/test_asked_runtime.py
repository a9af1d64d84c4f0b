"""What every sandbox runtime must do, by the one that asks the keeper for containers: all of it is tested there and here."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from keeper_process import KeeperProcess

from tests.workspaces.runtimes import runtime_of
from tests.workspaces.test_runtime_conformance import (  # noqa: F401 - they are collected here
    test_a_running_sandbox_keeps_its_specification,
    test_a_sandbox_goes_from_created_to_gone,
    test_an_id_can_be_created_once,
    test_every_act_may_be_repeated,
    test_files_outlive_a_stop_with_modes_links_and_names,
    test_many_starts_at_once_all_end_ready,
)
from workspaces.runtime.asked import FOLDER, AskedRuntime
from workspaces.runtime.base import SandboxSpec, SandboxState
from workspaces.runtime.docker import FIRST_UID, UIDS, DockerRuntime

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def lending() -> Iterator[KeeperProcess]:
    """The keeper of a host with Docker, as a service that lets nobody else read what it writes."""
    directory = Path(tempfile.mkdtemp(prefix="fw-", dir="/tmp"))
    tried = runtime_of("docker", directory / "tried")
    assert isinstance(tried, DockerRuntime)
    process = KeeperProcess(directory, FDEGYM_RUNTIME="docker", FDEGYM_DOCKER=tried.daemon)
    before = os.umask(0o077)
    process.start()
    os.umask(before)
    yield process
    process.end()
    shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def runtime(lending: KeeperProcess) -> Iterator[AskedRuntime]:
    made = AskedRuntime(lending.state_dir.parent / FOLDER, lending.socket)
    assert made.report().usable
    yield made
    for sandbox in made.adopt({}):
        made.destroy(sandbox.id)


def test_no_workspace_and_no_grading_have_the_same_user(runtime: AskedRuntime) -> None:
    """What the kernel counts for a user is then counted for one of them."""
    runtime.create("one", SandboxSpec())
    own = int(runtime.start("one").exec(["id", "-u"]).stdout)
    assert own in range(FIRST_UID + UIDS, FIRST_UID + 2 * UIDS)
    (runtime.state_dir / "one" / "uid").write_text(str(FIRST_UID))
    runtime.stop("one")
    assert int(runtime.start("one").exec(["id", "-u"]).stdout) == own, "nobody else's is taken because a file says so"


def test_who_works_in_it_has_a_name_whatever_the_umask_of_the_keeper(runtime: AskedRuntime) -> None:
    runtime.create("one", SandboxSpec())
    assert runtime.start("one").exec(["id", "-un"]).stdout == b"engineer\n"


def test_a_sandbox_ends_without_the_keeper_too(lending: KeeperProcess, runtime: AskedRuntime) -> None:
    """FC-82."""
    runtime.create("one", SandboxSpec())
    sandbox = runtime.start("one")
    lending.end()
    try:
        assert not runtime.report().usable
        runtime.destroy("one")
        assert sandbox.state() is SandboxState.GONE
    finally:
        lending.start()
