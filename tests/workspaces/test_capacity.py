"""A host opens as many workspaces as it has room for; whoever finds none is told so, waits, and loses nothing."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from keeper_process import KeeperProcess

from workspaces import services
from workspaces.keeper.__main__ import parse_arguments
from workspaces.keeper.capacity import FRESH_S, capacity_of, machine_memory_mb, most_mb
from workspaces.materials import WorkspaceMaterials
from workspaces.runtime.base import Limits, SandboxState
from workspaces.runtime.errors import HostFull

pytestmark = pytest.mark.sandbox
OpenRun = Callable[[], str]


@pytest.mark.parametrize("keeper", [("--workspaces", "2")], indirect=True)
def test_who_finds_no_room_is_told_and_opens_when_another_stops(
    keeper: KeeperProcess, materials: WorkspaceMaterials, open_run: OpenRun
) -> None:
    alice, bob, charlie = open_run(), open_run(), str(uuid.uuid4())
    with pytest.raises(HostFull, match=r"no room .* Nothing of yours is lost") as caught:
        services.open_workspace(charlie, materials)
    assert caught.value.http_status == 503
    assert services.place_in_queue(charlie) is None, "whoever cannot wait leaves no place behind"
    assert services.workspace_state(charlie) is SandboxState.GONE, "nothing half made is left"

    services.stop_workspace(bob)
    services.open_workspace(charlie, materials)
    assert services.workspace_state(alice) is SandboxState.RUNNING


@pytest.mark.parametrize("keeper", [("--workspaces", "2")], indirect=True)
def test_a_full_host_takes_nothing_from_those_who_work_or_come_back(
    keeper: KeeperProcess, materials: WorkspaceMaterials, open_run: OpenRun
) -> None:
    alice, bob = open_run(), open_run()
    services.put_file(bob, "/workspace/system/kept", b"by bob")
    services.stop_workspace(bob)
    charlie = open_run()
    with pytest.raises(HostFull):
        services.open_workspace(bob, materials)
    services.open_workspace(alice, materials)  # of an open workspace that is asked for again, a tab reloaded say
    services.destroy_workspace(charlie)
    services.open_workspace(bob, materials)
    assert services.read_file(bob, "/workspace/system/kept") == b"by bob"


@pytest.mark.parametrize("keeper", [("--workspaces", "2")], indirect=True)
def test_room_is_counted_from_what_runs_also_by_the_next_keeper(
    keeper: KeeperProcess, materials: WorkspaceMaterials, open_run: OpenRun
) -> None:
    open_run(), open_run()
    keeper.end()
    keeper.start()
    with pytest.raises(HostFull):
        open_run()


@pytest.mark.parametrize("keeper", [("--workspaces-mb", "800")], indirect=True)
def test_memory_counts_as_it_is_held_and_of_a_new_workspace_as_it_may_be(
    keeper: KeeperProcess, materials: WorkspaceMaterials, open_run: OpenRun
) -> None:
    """Each may take 348 MB: three do not fit if they do, and fit while they do not."""
    runs = [open_run() for _ in range(3)]
    hog = "x = bytearray(200 << 20); print('held', flush=True); import time; time.sleep(600)"
    for run_id in runs:
        held = f'python -c "{hog}" > /tmp/said 2>&1 & while ! grep -q held /tmp/said; do sleep 0.05; done'
        assert services.run_in_workspace(run_id, ["bash", "-c", held]).exit_status == 0
    time.sleep(FRESH_S)
    with pytest.raises(HostFull):
        open_run()
    services.run_in_workspace(runs[0], ["pkill", "-f", "bytearray"])
    opened, deadline = "", time.monotonic() + 60
    while not opened and time.monotonic() < deadline:  # until the kernel has taken the memory back
        try:
            opened = open_run()
        except HostFull:
            time.sleep(0.1)
    assert opened


@pytest.mark.parametrize("keeper", [("--workspaces-mb", "100")], indirect=True)
def test_on_however_small_a_machine_one_person_can_work(keeper: KeeperProcess, open_run: OpenRun) -> None:
    open_run()
    with pytest.raises(HostFull, match="no room"):
        open_run()


@pytest.mark.parametrize("keeper", [("--workspaces", "1")], indirect=True)
def test_a_start_that_fails_holds_no_room(
    keeper: KeeperProcess, materials: WorkspaceMaterials, open_run: OpenRun
) -> None:
    broken = replace(materials, read_only={"/workspace/docs": Path("/no/such/folder")})
    with pytest.raises(Exception, match="does not exist"):
        services.open_workspace(str(uuid.uuid4()), broken)
    open_run()


# what an operator need not say


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_container_counts_as_the_machine_that_it_is(tmp_path: Path) -> None:
    proc, groups = tmp_path / "proc", tmp_path / "groups"
    write(proc / "meminfo", "MemTotal:       16384000 kB\nMemFree:  1 kB\n")
    assert machine_memory_mb(proc, groups) == 16000
    write(groups / "memory.max", "max\n")
    assert machine_memory_mb(proc, groups) == 16000
    write(groups / "memory.max", str(2000 << 20))
    assert machine_memory_mb(proc, groups) == 2000
    write(groups / "memory" / "memory.limit_in_bytes", str(1000 << 20))
    assert machine_memory_mb(proc, groups) == 1000


def test_what_is_not_given_comes_from_the_machine() -> None:
    derived = capacity_of(16_000)
    assert (derived.memory_mb, derived.workspaces) == (12_000, 187)
    assert capacity_of(16_000, memory_mb=6400).workspaces == 100
    assert capacity_of(16_000, workspaces=30).memory_mb == 12_000
    assert capacity_of(64).workspaces == 1


def test_the_environment_speaks_for_the_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = ["--state-dir", "/x", "--socket", "/y"]
    monkeypatch.setenv("FDEGYM_WORKSPACES", "7")
    monkeypatch.setenv("FDEGYM_WORKSPACES_MB", "9000")
    assert parse_arguments(needed).capacity == capacity_of(0, workspaces=7, memory_mb=9000)
    assert parse_arguments([*needed, "--workspaces", "3"]).capacity.workspaces == 3
    monkeypatch.delenv("FDEGYM_WORKSPACES")
    monkeypatch.delenv("FDEGYM_WORKSPACES_MB")
    assert parse_arguments(needed).capacity == capacity_of(machine_memory_mb())


def test_all_that_a_workspace_can_take_includes_its_files_which_lie_in_memory() -> None:
    assert most_mb(Limits(memory_mb=300, disk_mb=40, shm_mb=2)) == 342
