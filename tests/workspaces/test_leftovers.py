"""The keeper and the runtime leave nothing on the host that nobody will ask for."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

import pytest
from keeper_process import KeeperProcess

from tests.workspaces.inside import Start, shell
from workspaces import services
from workspaces.keeper.client import TerminalStream
from workspaces.runtime.launched import LauncherRuntime

pytestmark = pytest.mark.sandbox


async def test_records_of_a_run_that_is_gone_are_removed_and_of_one_that_is_there_kept(
    keeper: KeeperProcess, open_run: Callable[[], str]
) -> None:
    import asyncio

    gone, there = [await asyncio.to_thread(open_run) for _ in range(2)]
    for run_id in (gone, there):
        stream = await TerminalStream.attach(keeper.socket, run=run_id, number=1, role="owner")
        stream.close()
    await asyncio.to_thread(services.destroy_workspace, gone)
    assert await asyncio.to_thread(services.recorded_runs) == sorted([gone, there])
    assert await asyncio.to_thread(lambda: services.recorded_runs(older_than_s=3600)) == []
    await asyncio.to_thread(services.forget_records, [gone, there])
    assert await asyncio.to_thread(services.recorded_runs) == [there]


def test_what_a_killed_process_was_making_goes_with_the_next_keeper(runtime: LauncherRuntime) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    for pid in (ended.pid, os.getpid()):
        (runtime.state_dir / f"_new-one-{pid}-140001").mkdir()
        (runtime.state_dir / f"_process-{pid}-abcdef123456").mkdir()
    runtime.remove_half_made()
    left = {path.name for path in runtime.state_dir.glob("_*") if path.name != "_skeleton"}
    assert left == {f"_new-one-{os.getpid()}-140001", f"_process-{os.getpid()}-abcdef123456"}


def test_half_of_a_saving_goes_with_the_next_start(runtime: LauncherRuntime, start: Start) -> None:
    sandbox = start("one")
    shell(sandbox, "echo kept > /workspace/system/kept")
    runtime.stop("one")
    half = runtime.state_dir / "one" / ".storage.tar.4711.140001"
    half.write_bytes(b"half")
    runtime.start("one")
    assert not half.exists()
    assert sandbox.read("/workspace/system/kept", max_bytes=9) == b"kept\n"
