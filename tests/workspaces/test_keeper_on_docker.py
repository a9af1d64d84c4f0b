"""The keeper with Docker: what its containers add to what both runtimes do."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from docker.api.client import APIClient
from keeper_process import KeeperProcess

from tests.waiting import until as wait_until
from tests.workspaces.attached import attach, until
from tests.workspaces.runtimes import IMAGE, runtime_of
from workspaces import services
from workspaces.materials import WorkspaceMaterials
from workspaces.runtime.base import Limits, SandboxSpec, SandboxState
from workspaces.runtime.docker import API_VERSION, LABEL, DockerRuntime
from workspaces.runtime.sandbox import LaunchedSandbox

pytestmark = pytest.mark.sandbox


@pytest.fixture
def on_docker(state_dir: Path) -> Iterator[DockerRuntime]:
    made = runtime_of("docker", state_dir / "s")
    assert isinstance(made, DockerRuntime)
    yield made
    for sandbox in made.adopt({}):
        made.destroy(sandbox.id)


@pytest.fixture
def keeper(on_docker: DockerRuntime, state_dir: Path, settings: Any) -> Iterator[KeeperProcess]:
    process = KeeperProcess(state_dir, FDEGYM_RUNTIME="docker", FDEGYM_DOCKER=on_docker.daemon)
    process.start()
    settings.KEEPER_SOCKET = process.socket
    yield process
    process.end()


@pytest.fixture
def daemon(on_docker: DockerRuntime) -> Iterator[Any]:
    client = APIClient(base_url=on_docker.daemon, version=API_VERSION, timeout=60)
    yield client
    client.close()


def containers(daemon: Any, runtime: DockerRuntime) -> dict[str, Any]:
    """This runtime's containers by sandbox, in any state."""
    found = daemon.containers(all=True, filters={"label": f"{LABEL}.state={runtime.mark}"})
    return {row["Labels"][f"{LABEL}.sandbox"]: row for row in found}


async def test_a_workspace_lives_through_a_killed_keeper_and_a_stop(
    keeper: KeeperProcess, open_run: Callable[[], str], materials: WorkspaceMaterials
) -> None:
    """FC-27, FC-62."""
    run_id = await asyncio.to_thread(open_run)
    stream = await attach(keeper, run_id)
    await stream.type(b"stty size; X=kept; cat /workspace/docs/handbook.md; echo pid=$$ re''ady\n")
    said = await until(stream, b"ready")
    assert b"30 100" in said, "the terminal has the browser's size from its first moment (FC-19)"
    assert b"# Handbook" in said
    keeper.end()
    assert await stream.frame() is None
    await asyncio.to_thread(keeper.start)
    again = await attach(keeper, run_id)
    await again.type(b"echo [$X] pid=$$ ag''ain\n")
    pid = re.search(rb"pid=(\d+)", said.split(b"\n", 1)[1])
    assert pid is not None
    assert b"[kept] pid=" + pid[1] in await until(again, b"again")
    await asyncio.to_thread(services.put_file, run_id, "/workspace/system/new.py", b"1\n")
    await asyncio.to_thread(services.stop_workspace, run_id)
    await asyncio.to_thread(services.open_workspace, run_id, materials)
    assert await asyncio.to_thread(services.read_file, run_id, "/workspace/system/new.py") == b"1\n"


def test_a_container_that_somebody_killed_is_stopped_and_can_be_opened_again(
    keeper: KeeperProcess,
    on_docker: DockerRuntime,
    daemon: Any,
    open_run: Callable[[], str],
    materials: WorkspaceMaterials,
) -> None:
    """FC-57, FC-73."""
    run_id = open_run()
    services.put_file(run_id, "/workspace/system/main.py", b"mine\n")
    services.stop_workspace(run_id)
    services.open_workspace(run_id, materials)
    daemon.kill(containers(daemon, on_docker)[run_id]["Id"])
    wait_until(lambda: services.workspace_state(run_id) is SandboxState.STOPPED, "it is seen to be stopped")
    services.open_workspace(run_id, materials)
    assert services.read_file(run_id, "/workspace/system/main.py") == b"mine\n"
    services.destroy_workspace(run_id)
    assert containers(daemon, on_docker) == {}


def test_containers_that_nobody_knows_go_with_the_next_keeper_and_rows_without_one_start_again(
    keeper: KeeperProcess,
    on_docker: DockerRuntime,
    daemon: Any,
    open_run: Callable[[], str],
    materials: WorkspaceMaterials,
) -> None:
    """FC-60, FC-82: also one that was created and never started. Both ways: a known one without its container is stopped."""
    forgotten, bereft = open_run(), open_run()
    name = f"fdegym-{on_docker.mark}-created"
    labels = {f"{LABEL}.state": on_docker.mark, f"{LABEL}.sandbox": "created"}
    daemon.create_container(IMAGE, ["true"], name=name, labels=labels)
    daemon.remove_container(containers(daemon, on_docker)[bereft]["Id"], force=True)
    keeper.end()
    shutil.rmtree(on_docker.state_dir / forgotten)
    keeper.start()
    assert set(containers(daemon, on_docker)) == set()
    assert services.workspace_state(bereft) is SandboxState.STOPPED
    services.open_workspace(bereft, materials)
    assert set(containers(daemon, on_docker)) == {bereft}


def test_what_the_container_may_is_written_in_it(on_docker: DockerRuntime, daemon: Any) -> None:
    """FC-75. As whoever inspects it with Docker's own tools sees it."""
    limits = Limits(memory_mb=300, disk_mb=40, shm_mb=4, processes=50, open_files=99, cpus=0.5)
    on_docker.create("one", SandboxSpec(limits=limits, labels={"kind": "workspace"}))
    on_docker.start("one")
    found = daemon.inspect_container(containers(daemon, on_docker)["one"]["Id"])
    host = found["HostConfig"]
    assert host["NetworkMode"] == "none"
    assert (host["CapDrop"], host["CapAdd"], host["Privileged"]) == (["ALL"], None, False)
    assert host["SecurityOpt"] == ["no-new-privileges"], "Docker's own system-call filter is in force too"
    assert host["ReadonlyRootfs"]
    assert host["Memory"] == host["MemorySwap"] == 344 << 20
    assert (host["PidsLimit"], host["NanoCpus"]) == (54, 500_000_000)
    assert {each["Name"]: each["Hard"] for each in host["Ulimits"]} == {"nofile": 99, "core": 0}
    assert host["LogConfig"]["Config"] == {"max-size": "64k", "max-file": "1"}
    assert not [mount for mount in host["Mounts"] if mount["Type"] == "bind" and not mount["ReadOnly"]]
    assert [mount["Target"] for mount in host["Mounts"] if mount["Type"] != "bind"] == ["/dev/pts"]
    assert found["Config"]["User"].split(":")[0] not in ("", "0", "root", str(os.geteuid()))
    assert found["Config"]["Labels"][f"{LABEL}.label.kind"] == "workspace"


def test_a_daemon_that_does_not_answer_is_said_in_words(state_dir: Path) -> None:
    """FC-81: and nothing waits for it for ever."""
    away = DockerRuntime(state_dir / "away", image=IMAGE, daemon=f"unix://{state_dir}/no.sock")
    report = away.report()
    assert not report.usable
    assert "Docker does not answer" in str(report.problem)
    assert "group docker" in str(report.problem)


def test_an_image_that_is_missing_is_said_in_words(on_docker: DockerRuntime, state_dir: Path) -> None:
    without = DockerRuntime(state_dir / "without", image="fdegym-nobody-built:1", daemon=on_docker.daemon)
    assert "ops/workspace-image/build makes it" in str(without.report().problem)


def test_descriptors_are_back_where_they_were_after_many_starts(on_docker: DockerRuntime) -> None:
    def held() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    def ended(sandbox: LaunchedSandbox) -> bool:
        return sandbox.terminals()[0]["status"] is not None

    for turn in range(3):
        on_docker.create("one", SandboxSpec())
        sandbox = on_docker.start("one")
        for _ in range(5):
            os.close(sandbox.open_terminal(columns=80, rows=24)[0])
            sandbox.close_terminal(1)
            wait_until(partial(ended, sandbox), "the shell has ended")
        on_docker.destroy("one")
        if turn == 0:
            before = held()
    assert held() == before
