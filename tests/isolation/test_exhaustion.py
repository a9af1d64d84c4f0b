"""Whoever uses up what all share is held, ends with a word, and the neighbour types on.

How quickly the neighbour's letters come back is measured by ``ops/bench_isolation.py``, and not judged here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tests.isolation.programs.pressing import PRESSURES, Pressure
from tests.isolation.street import Street, echo_s
from tests.workspaces.holders import HOLDERS
from workspaces.runtime.base import Limits
from workspaces.runtime.limits import SPARE_PROCESSES

pytestmark = pytest.mark.sandbox
SMALL = Limits(memory_mb=500, processes=40, disk_mb=8, inodes=400, open_files=128, shm_mb=4)

#: What people do all day: programs, files, memory, sockets, and editors that watch folders.
WORK = """
import ctypes, os, socket, subprocess, tempfile
subprocess.run(["true"], check=True)
with tempfile.NamedTemporaryFile() as file:
    file.write(bytearray(1 << 20))
socket.socketpair()
assert ctypes.CDLL(None).inotify_init() >= 0
print("works")
"""


@pytest.fixture(scope="module", params=[*HOLDERS, "docker"])
def street(request: pytest.FixtureRequest) -> Iterator[Street]:
    """On bubblewrap by everybody who can hold it to its totals on this host, and on Docker."""
    made = Street("docker", SMALL) if request.param == "docker" else Street("bubblewrap", SMALL, holder=request.param)
    with made:
        yield made


@pytest.mark.parametrize("pressure", PRESSURES.values(), ids=list(PRESSURES))
async def test_the_neighbour_types_on_beside_this(street: Street, pressure: Pressure) -> None:
    """FC-75."""
    if pressure.only_with_cgroup and street.runtime.report().limits_enforced_by["memory"] == "watcher":
        pytest.xfail("the watcher does not see memory of the kernel: docs/isolation.md says so")
    async with street.typing() as stream:
        async with street.under(pressure):
            for letter in b"abcde":
                await echo_s(stream, bytes([letter]))
            assert (await asyncio.to_thread(street.neighbour.exec, ["python3", "-c", WORK])).stdout == b"works\n"
            await asyncio.to_thread(street.open_another_terminal)
            used = await asyncio.to_thread(street.hostile.usage)
        assert used["processes"] <= SMALL.processes + SPARE_PROCESSES
        assert used["disk_bytes"] <= SMALL.disk_mb << 20
        assert used["inodes"] <= SMALL.inodes
    assert (await asyncio.to_thread(street.hostile.exec, ["echo", "usable"])).stdout == b"usable\n"
    assert street.neighbour.usage()["memory_kills"] == 0
