"""What a process leaves that was killed at the worst moment, one rule at a time; `make chaos` tries them all at once."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fdegym.gateway.configuration import GatewayConfiguration
from fdegym.gateway.server import Gateway
from stakeholders.desk import Desk


class Killed(BaseException):
    """In place of SIGKILL: nothing of the process's own is done after it."""


@pytest.fixture
def directory() -> Iterator[Path]:
    """Short, for sockets."""
    made = Path(tempfile.mkdtemp(prefix="fdk-", dir="/tmp"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


async def of_the_desk(directory: Path) -> Any:
    return await Desk(directory, None)._listen(directory / "site.sock", None, 8)  # type: ignore[arg-type]


async def of_the_gateway(directory: Path) -> Any:
    gateway = Gateway(directory, GatewayConfiguration(), None)  # type: ignore[arg-type]
    return await gateway._listen(directory / "site.sock", None, None, 8)  # type: ignore[arg-type]


@pytest.mark.parametrize("listen", [of_the_desk, of_the_gateway])
async def test_a_socket_that_was_half_made_when_its_process_was_killed_goes_with_the_next_one(
    listen: Any, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as at_that_moment:
        at_that_moment.setattr(Path, "rename", killed)
        with pytest.raises(Killed):
            await listen(directory)
    assert [path.name for path in directory.iterdir()] != ["site.sock"], "it was killed in between"
    monkeypatch.setattr(os, "getpid", lambda: 4_000_001)
    listener = await listen(directory)
    assert [path.name for path in directory.iterdir() if stat.S_ISSOCK(path.lstat().st_mode)] == ["site.sock"]
    listener.server.close()


def sleep_on() -> None:
    time.sleep(600)


@pytest.fixture
def scheduler() -> Iterator[Any]:
    process = multiprocessing.get_context("spawn").Process(target=sleep_on)
    process.start()
    yield process
    process.kill()
    process.join(10)


@pytest.mark.parametrize("worker_is_ending", [False, True])
def test_a_worker_whose_scheduler_is_killed_ends_with_it_unless_it_is_ending_anyway(
    worker_is_ending: bool, scheduler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else submissions whose message was lost would wait for ever: Celery starts no second scheduler."""
    from celery.worker import state

    from fdegym import celery

    sent: list[tuple[int, int]] = []
    monkeypatch.setattr(celery, "LOOK_AT_SCHEDULER_EVERY_S", 0.01)
    monkeypatch.setattr(state, "should_stop", 0 if worker_is_ending else None)
    scheduler.kill()
    monkeypatch.setattr(os, "kill", lambda *call: sent.append(call))
    celery.end_after(scheduler)
    assert sent == ([] if worker_is_ending else [(os.getpid(), signal.SIGTERM)])
