"""Terminals by the hundred leave nothing behind: descriptors, threads and memory are where they were.

150 of them here; ``TEST_EVERYTHING=1`` opens 1,500.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from keeper_process import KeeperProcess

from tests.waiting import until as wait_until
from tests.workspaces.attached import attach, until
from tests.workspaces.runtimes import RUNTIMES, runtime_of
from workspaces import services
from workspaces.keeper.server import THREADS
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.sandbox import KEPT_IDLE

pytestmark = pytest.mark.sandbox

MANY = 1500 if os.environ.get("TEST_EVERYTHING") == "1" else 150
WORKSPACES, EACH = 2, 8  #: as many as one workspace may have open
MIB = 1 << 20
#: What a process may hold more of memory afterwards: less than 1,500 terminals would keep if each kept a page or two.
MORE_MEMORY = 8 * MIB
#: The keeper's own threads, and those that asyncio lends for ``to_thread``.
MOST_THREADS = THREADS + min(32, (os.cpu_count() or 1) + 4) + 8


@pytest.fixture(params=RUNTIMES)
def on_host(state_dir: Path, request: pytest.FixtureRequest) -> Iterator[LauncherRuntime]:
    made = runtime_of(request.param, state_dir / "s")
    yield made
    for sandbox in made.adopt({}):
        made.destroy(sandbox.id)


@pytest.fixture
def keeper(on_host: LauncherRuntime, state_dir: Path, settings: Any) -> Iterator[KeeperProcess]:
    process = KeeperProcess(
        state_dir, FDEGYM_RUNTIME=on_host.name, FDEGYM_DOCKER=os.environ.get("DOCKER_FOR_TESTS", "")
    )
    process.start()
    settings.KEEPER_SOCKET = process.socket
    yield process
    process.end()


@dataclass(frozen=True)
class Held:
    """What a process holds. ``slots`` is the size of its table of descriptors, which everybody may read: it grows by the
    power of two when descriptors leak, and never shrinks."""

    threads: int
    memory: int
    slots: int

    @classmethod
    def by(cls, pid: int) -> Held:
        status = Path(f"/proc/{pid}/status").read_text()

        def figure(name: str) -> int:
            found = re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)
            assert found is not None
            return int(found[1])

        return cls(figure("Threads"), figure("VmRSS") * 1024, figure("FDSize"))


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def processes(run_id: str) -> int:
    """How many live in a workspace, with the one that counts them."""
    count = "import os; print(sum(name.isdecimal() for name in os.listdir('/proc')))"
    return int(services.run_in_workspace(run_id, ["python", "-c", count]).stdout)


async def open_and_close(keeper: KeeperProcess, runs: list[str], count: int) -> None:
    """So many terminals, as many at a time as may be open, each seen to run a command before it is closed."""

    async def one(run_id: str, number: int) -> None:
        stream = await attach(keeper, run_id, number)
        await stream.type(b"echo see''n\n")
        await until(stream, b"seen")
        await asyncio.to_thread(keeper.client.request, "close_terminal", run=run_id, number=number)
        async with asyncio.timeout(60):
            while frame := await stream.frame():
                if isinstance(frame, dict) and frame["type"] == "exit":
                    break
        stream.close()

    places = [(run_id, number) for run_id in runs for number in range(1, EACH + 1)]
    for begun in range(0, count, len(places)):
        await asyncio.gather(*(one(*place) for place in places[: count - begun]))


async def test_many_terminals_leave_nothing_behind(
    keeper: KeeperProcess, on_host: LauncherRuntime, open_run: Callable[[], str]
) -> None:
    """FC-56, FC-81."""
    assert keeper.process is not None
    pid = keeper.process.pid
    before = descriptors(pid)
    runs = [await asyncio.to_thread(open_run) for _ in range(WORKSPACES)]
    launchers = [living for run_id in runs for living in on_host._living(run_id)]
    await open_and_close(keeper, runs, 2 * WORKSPACES * EACH)  # what is loaded and made once is there now
    alive = [await asyncio.to_thread(processes, run_id) for run_id in runs]
    held = {each: Held.by(each) for each in (pid, *launchers)}

    await open_and_close(keeper, runs, MANY)

    most = before + WORKSPACES * KEPT_IDLE
    await asyncio.to_thread(
        wait_until, lambda: descriptors(pid) <= most, lambda: f"{descriptors(pid)} descriptors, not {most}"
    )
    after = {each: Held.by(each) for each in held}
    print(f"{MANY} terminals, {on_host.name}: {before}, then {descriptors(pid)} descriptors; {held} became {after}")
    assert after[pid].threads <= MOST_THREADS
    for each in launchers:
        assert (after[each].threads, after[each].slots) == (held[each].threads, held[each].slots)
    assert {each: more for each in held if (more := after[each].memory - held[each].memory) > MORE_MEMORY} == {}
    assert [await asyncio.to_thread(processes, run_id) for run_id in runs] == alive
