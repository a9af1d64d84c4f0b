"""The keeper as a process: workspaces and shells outlive it, and it never outgrows its bounds."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from keeper_process import ROOT, KeeperProcess

from fdegym.lib.errors import RunStateConflict, ServiceUnavailable
from tests.workspaces.attached import attach, until
from workspaces import services
from workspaces.keeper.client import TerminalStream, TerminalUnavailable
from workspaces.materials import WorkspaceMaterials
from workspaces.runtime.base import SandboxState
from workspaces.runtime.bubblewrap import BubblewrapRuntime
from workspaces.runtime.errors import SandboxFileProblem, SandboxGone
from workspaces.terminal.record import Kind, entries

pytestmark = pytest.mark.sandbox


async def control(stream: TerminalStream, kind: str, timeout_s: float = 60) -> dict[str, Any]:
    """The next control frame of a kind."""
    async with asyncio.timeout(timeout_s):
        while True:
            frame = await stream.frame()
            assert frame is not None
            if isinstance(frame, dict) and frame["type"] == kind:
                return frame


# services


def test_a_workspace_is_opened_used_stopped_and_resumed(
    open_run: Callable[[], str], materials: WorkspaceMaterials
) -> None:
    run_id = open_run()
    services.open_workspace(run_id, materials)
    assert services.workspace_state(run_id) == "running"
    done = services.run_in_workspace(run_id, ["cat", "/workspace/docs/handbook.md", "-"], b"stdin")
    assert (done.exit_status, done.stdout) == (0, b"# Handbook\nstdin")
    services.put_file(run_id, "/workspace/system/new.py", b"1\n")
    services.stop_workspace(run_id)
    assert services.workspace_state(run_id) is SandboxState.STOPPED
    with pytest.raises(SandboxGone):
        services.read_file(run_id, "/workspace/system/new.py")
    services.open_workspace(run_id, materials)
    assert services.read_file(run_id, "/workspace/system/new.py") == b"1\n"
    services.destroy_workspace(run_id)
    services.destroy_workspace(run_id)
    assert services.workspace_state(run_id) is SandboxState.GONE


def test_files_are_listed_with_aware_times_and_links_are_not_followed(open_run: Callable[[], str]) -> None:
    run_id = open_run()
    services.run_in_workspace(
        run_id, ["bash", "-c", "cd system; ln -s /etc/passwd l; mkfifo f; touch -d 1900-01-01 old"]
    )
    found = {entry.name: entry for entry in services.list_directory(run_id, "/workspace/system")}
    assert {name: entry.kind for name, entry in found.items()} == {
        "main.py": "file",
        "l": "link",
        "f": "special",
        "old": "file",
    }
    assert all(entry.modified_at.tzinfo is not None for entry in found.values())
    with pytest.raises(SandboxFileProblem) as caught:
        services.read_file(run_id, "/workspace/system/l")
    assert caught.value.kind == "link"
    with pytest.raises(SandboxFileProblem):
        services.put_file(run_id, "/workspace/docs/handbook.md", b"no")
    assert services.read_beginning(run_id, "/workspace/docs/handbook.md", max_bytes=3) == (b"# H", False)
    assert services.read_beginning(run_id, "/workspace/docs/handbook.md", max_bytes=99) == (b"# Handbook\n", True)


def test_freezing_ends_every_process_and_gives_the_hash_of_the_tar(open_run: Callable[[], str], tmp_path: Path) -> None:
    """FC-95: nothing can change what was submitted while it is packed."""
    run_id = open_run()
    loop = "while true; do date +%N > /workspace/system/moving; done"
    services.run_in_workspace(
        run_id,
        [
            "bash",
            "-c",
            f"setsid bash -c '{loop}' >/dev/null 2>&1 & ln -s x system/l; until [ -s system/moving ]; do :; done",
        ],
    )
    frozen = services.freeze_system(run_id, tmp_path / "frozen.tar")
    assert hashlib.sha256(frozen.path.read_bytes()).hexdigest() == frozen.sha256
    assert (frozen.files, frozen.skipped) == (2, (("l", "link"),))
    assert services.freeze_system(run_id, tmp_path / "again.tar").sha256 == frozen.sha256
    assert services.run_in_workspace(run_id, ["true"]).exit_status == 0


def test_changes_are_told_against_the_original(open_run: Callable[[], str], materials: WorkspaceMaterials) -> None:
    run_id = open_run()
    original = materials.seed["/workspace/system"]
    assert services.changes(run_id, original) == []
    services.put_file(run_id, "/workspace/system/main.py", b"print('as found')\nprint('more')\n")
    (change,) = services.changes(run_id, original)
    assert (change.path, change.kind, change.lines_added, change.lines_removed) == ("main.py", "changed", 1, 0)


def test_without_a_keeper_the_error_says_that_nothing_is_lost(settings: Any, tmp_path: Path) -> None:
    settings.KEEPER_SOCKET = tmp_path / "none.sock"
    with pytest.raises(ServiceUnavailable, match="Nothing is lost"):
        services.workspace_state(str(uuid.uuid4()))


def test_the_keeper_knows_neither_django_nor_the_database() -> None:
    code = "import sys, workspaces.keeper.__main__; print([m for m in ('django', 'sqlite3') if m in sys.modules])"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_second_keeper_does_not_share_the_terminals(keeper: KeeperProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    from workspaces.keeper import server

    monkeypatch.setattr(server, "LOCK_WAIT_S", 0.3)
    settings = server.KeeperSettings(keeper.state_dir, keeper.socket.with_name("second.sock"))
    with pytest.raises(server.KeeperRunning, match="Another keeper"):
        asyncio.run(server.Keeper(settings).serve())


def test_a_stop_does_not_wait_for_long_commands(open_run: Callable[[], str]) -> None:
    """FC-81."""
    from concurrent.futures import ThreadPoolExecutor

    run_id = open_run()
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(services.run_in_workspace, run_id, ["sleep", "600"], timeout_s=600) for _ in range(8)]
        time.sleep(0.5)
        services.stop_workspace(run_id)
        for each in waiting:
            with contextlib.suppress(ServiceUnavailable, SandboxGone, RunStateConflict):
                assert each.result().exit_status == -9


def test_a_system_too_large_to_submit_is_refused_in_words(open_run: Callable[[], str], tmp_path: Path) -> None:
    run_id = open_run()
    services.run_in_workspace(run_id, ["bash", "-c", "for n in $(seq 20); do truncate -s 30M system/$n; done"])
    with pytest.raises(RunStateConflict, match="larger than"):
        services.freeze_system(run_id, tmp_path / "x.tar")
    assert services.run_in_workspace(run_id, ["true"]).exit_status == 0


@pytest.mark.parametrize("run_id", ["../../etc", "_records", "", "x/y"])
def test_what_cannot_be_a_run_id_is_refused(keeper: KeeperProcess, run_id: str) -> None:
    with pytest.raises((ServiceUnavailable, RunStateConflict, SandboxGone)):
        services.run_in_workspace(run_id, ["true"])


def test_orphans_are_removed_and_the_living_kept(open_run: Callable[[], str], keeper: KeeperProcess) -> None:
    """FC-60, FC-82."""
    living, orphan = open_run(), open_run()
    assert services.reconcile([living]) == [], "a run that began while the living were listed keeps its workspace"
    assert services.reconcile([living], grace_s=0) == [orphan]
    assert services.workspace_state(living) == "running"
    assert not (keeper.state_dir / orphan).exists()


def test_thirty_starts_and_stops_in_disorder_end_in_a_legal_state(
    open_run: Callable[[], str], materials: WorkspaceMaterials
) -> None:
    """FC-67."""
    from concurrent.futures import ThreadPoolExecutor

    run_id = open_run()

    def act(number: int) -> None:
        with contextlib.suppress(SandboxGone, RunStateConflict):  # refused is legal
            services.stop_workspace(run_id) if number % 3 else services.open_workspace(run_id, materials)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(act, range(30)))
    services.open_workspace(run_id, materials)
    assert services.run_in_workspace(run_id, ["cat", "/workspace/system/main.py"]).stdout == b"print('as found')\n"


def test_one_busy_workspace_does_not_stall_another(open_run: Callable[[], str]) -> None:
    """FC-11."""
    from concurrent.futures import ThreadPoolExecutor

    busy, other = open_run(), open_run()
    with ThreadPoolExecutor(40) as pool:
        slow = [pool.submit(services.run_in_workspace, busy, ["sleep", "600"], timeout_s=600) for _ in range(40)]
        time.sleep(0.5)
        assert services.run_in_workspace(other, ["true"]).exit_status == 0
        assert not all(each.done() for each in slow), "the busy one is busy no more"
        services.destroy_workspace(busy)
        for each in slow:
            assert each.exception() is None or isinstance(each.exception(), ServiceUnavailable | SandboxGone)


# terminals


async def test_a_shell_and_its_variables_outlive_a_killed_keeper(
    keeper: KeeperProcess, open_run: Callable[[], str]
) -> None:
    """FC-27, FC-28, FC-62."""
    run_id = await asyncio.to_thread(open_run)
    stream = await attach(keeper, run_id)
    await stream.type(b"X=kept; (sleep 2; touch /tmp/done) & echo pid=$$ re''ady\n")
    said = await until(stream, b"ready")
    pid = re.search(rb"pid=(\d+)", said.split(b"\n", 1)[1])
    assert pid is not None
    keeper.end()
    assert await stream.frame() is None
    await asyncio.to_thread(keeper.start)
    again = await attach(keeper, run_id)
    await again.type(b"echo [$X] pid=$$ ag''ain\n")
    assert b"[kept] pid=" + pid[1] in await until(again, b"again")
    await asyncio.sleep(2.2)
    assert services.read_file(run_id, "/tmp/done") == b""
    kinds = [kind for _, kind, *_ in entries(keeper.state_dir / "_records" / run_id / "terminal-1.record")]
    assert kinds.count(Kind.KEEPER) == 1, "the record says that the keeper was another"
    assert Kind.GAP not in kinds


async def test_numbers_printed_during_reconnects_and_keeper_kills_arrive_once_in_order(
    keeper: KeeperProcess, open_run: Callable[[], str]
) -> None:
    """FC-29, FC-30."""
    run_id = await asyncio.to_thread(open_run)
    stream = await attach(keeper, run_id)
    await stream.type(
        b"stty -echo; clear; for i in $(seq 1000 1400); do echo n$i; sleep 0.004; done; echo fini''shed\n"
    )
    received, seq = b"", int(stream.hello["seq"])
    for turn in range(12):
        deadline = time.monotonic() + 0.1
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(10):
                while True:
                    async with asyncio.timeout(max(0.01, deadline - time.monotonic())):
                        frame = await stream.frame()
                    if isinstance(frame, bytes):
                        received += frame
                        seq += len(frame)
        stream.close()
        if turn % 4 == 1:
            keeper.end()
            await asyncio.to_thread(keeper.start)
        stream = await attach(keeper, run_id, after=seq)
        assert stream.hello["seq"] == seq
    received += await until(stream, b"finished") if b"finished" not in received else b""
    numbers = [int(number) for number in re.findall(rb"n(\d{4})\r", received)]
    assert numbers == list(range(1000, 1401))


async def test_several_tabs_share_a_shell_and_an_observer_only_looks(
    keeper: KeeperProcess, open_run: Callable[[], str]
) -> None:
    run_id = await asyncio.to_thread(open_run)
    with pytest.raises(TerminalUnavailable) as caught:
        await attach(keeper, run_id, role="observer")
    assert caught.value.kind == "no_terminal", "an observer opens no shell"
    one, two = await attach(keeper, run_id), await attach(keeper, run_id)
    observer = await attach(keeper, run_id, role="observer")
    await observer.type(b"touch /tmp/evil\n")
    await observer.control({"type": "size", "columns": 10, "rows": 5})
    await one.type(b"stty size; echo sha''red\n")
    for stream in (one, two, observer):
        assert b"30 100" in await until(stream, b"shared")
    await two.control({"type": "size", "columns": 66, "rows": 22})
    assert (await control(one, "size"))["columns"] == 66
    await asyncio.sleep(0.2)
    assert "evil" not in {entry.name for entry in services.list_directory(run_id, "/tmp")}


@pytest.mark.parametrize("keeper", [("--terminals-max", "3")], indirect=True)
async def test_shells_of_a_workspace_are_bounded(keeper: KeeperProcess, open_run: Callable[[], str]) -> None:
    """FC-54."""
    run_id = await asyncio.to_thread(open_run)
    for number in range(1, 4):
        stream = await attach(keeper, run_id, number)
        stream.close()
    with pytest.raises(TerminalUnavailable) as caught:
        await attach(keeper, run_id, 4)
    assert caught.value.kind == "too_many"
    assert services.open_terminals(run_id) == [1, 2, 3]
    services.close_terminal(run_id, 2)
    for _ in range(100):
        if services.open_terminals(run_id) == [1, 3]:
            break
        await asyncio.sleep(0.05)
    await attach(keeper, run_id, 4)


async def test_a_shell_that_ended_is_told_and_a_new_one_resets_the_modes(
    keeper: KeeperProcess, open_run: Callable[[], str]
) -> None:
    """FC-32."""
    run_id = await asyncio.to_thread(open_run)
    stream = await attach(keeper, run_id)
    await stream.type(b"printf '\\033[?1003h'; exit 3\n")
    assert (await control(stream, "exit"))["status"] == 3
    again = await attach(keeper, run_id)
    assert again.hello["seq"] >= 0
    assert (await control(again, "reset"))["type"] == "reset"


async def test_a_flood_ends_with_ctrl_c(keeper: KeeperProcess, open_run: Callable[[], str]) -> None:
    """FC-5, FC-9."""
    run_id = await asyncio.to_thread(open_run)
    stream = await attach(keeper, run_id)
    await until(stream, b"$ ")
    await stream.type(b"yes flood\n")
    await until(stream, b"flood\r\nflood\r\n")
    await asyncio.sleep(0.5)
    await stream.type(b"\x03")
    await stream.type(b"echo sto''pped\n")
    await until(stream, b"stopped")


async def test_what_is_printed_while_nobody_looks_is_there_afterwards(
    keeper: KeeperProcess, open_run: Callable[[], str]
) -> None:
    """FC-27."""
    run_id = await asyncio.to_thread(open_run)
    stream = await attach(keeper, run_id)
    await until(stream, b"$ ")
    seq = 0
    await stream.type(b"sleep 0.3; seq 1 20000; echo e''nd\n")
    stream.close()
    await asyncio.sleep(2)
    again = await attach(keeper, run_id, after=seq)
    received = await until(again, b"\nend\r\n")
    assert b"\r\n".join(b"%d" % number for number in range(1, 20001)) in received


@pytest.mark.parametrize("keeper", [("--idle-stop-s", "2", "--look-every-s", "0.3")], indirect=True)
async def test_an_idle_workspace_stops_and_a_busy_one_does_not(
    keeper: KeeperProcess, open_run: Callable[[], str]
) -> None:
    """FC-64, FC-77: CPU and chat count as activity, not only typing."""
    idle, busy, chatting = [await asyncio.to_thread(open_run) for _ in range(3)]
    services.put_file(idle, "/workspace/deliverables/report.md", b"kept")
    spin = ["bash", "-c", "setsid python -c 'while True: pass' >/dev/null 2>&1 &"]
    await asyncio.to_thread(services.run_in_workspace, busy, spin)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and services.workspace_state(idle) == "running":
        services.touch(chatting)
        await asyncio.sleep(0.2)
    assert services.workspace_state(idle) is SandboxState.STOPPED
    assert services.workspace_state(busy) == "running"
    assert services.workspace_state(chatting) == "running"


@pytest.mark.parametrize("keeper", [("--save-every-s", "0.5", "--look-every-s", "0.2")], indirect=True)
def test_files_are_saved_at_intervals_so_that_a_lost_host_costs_little(
    keeper: KeeperProcess, open_run: Callable[[], str], materials: WorkspaceMaterials
) -> None:
    run_id = open_run()
    services.put_file(run_id, "/workspace/system/work.py", b"hours of work")
    time.sleep(2)
    keeper.end()
    for pid in BubblewrapRuntime(keeper.state_dir)._living(run_id):
        os.kill(pid, signal.SIGKILL)
    keeper.start()
    assert services.workspace_state(run_id) is SandboxState.STOPPED
    services.open_workspace(run_id, materials)
    assert services.read_file(run_id, "/workspace/system/work.py") == b"hours of work"


def test_the_record_is_exported_as_asciicast(keeper: KeeperProcess, open_run: Callable[[], str]) -> None:
    run_id = open_run()

    async def use() -> None:
        stream = await attach(keeper, run_id)
        await stream.type("echo grüße\n".encode())
        await until(stream, "grüße\r\n".encode())

    asyncio.run(use())
    lines = list(services.terminal_record(run_id, 1))
    assert lines[0].startswith('{"version": 2, "width": 100, "height": 30')
    assert any("grüße" in line for line in lines)


def test_a_keeper_told_to_end_leaves_its_shells_alone(keeper: KeeperProcess, open_run: Callable[[], str]) -> None:
    run_id = open_run()
    keeper.end(signal.SIGTERM)
    assert BubblewrapRuntime(keeper.state_dir).state(run_id) is SandboxState.RUNNING
    keeper.start()
    assert services.workspace_state(run_id) == "running"
