"""A keeper killed at any moment loses no byte of output, doubles none, and never types a line twice."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import pty
import random
import signal
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from workspaces.terminal.journal import ROOM_BYTES, Journal
from workspaces.terminal.record import Kind, Record, entries
from workspaces.terminal.session import TerminalSession

FORK = multiprocessing.get_context("fork")


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    """(master, slave) of a PTY that outlives its keepers, as the launcher's does."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    yield master, slave
    os.close(master)
    os.close(slave)


def take_up(directory: Path, master: int) -> TerminalSession:
    record = Record(directory / "r")
    return TerminalSession(1, master, record, Journal(directory / "j", record), lambda _: None, taken_up=True)


def printed(directory: Path) -> bytes:
    return b"".join(content for _, kind, content, _ in entries(directory / "r") if kind is Kind.OUTPUT)


def keep(directory: Path, master: int) -> None:
    """A keeper of one terminal, until it is killed."""

    async def forever() -> None:
        take_up(directory, os.dup(master))
        await asyncio.get_running_loop().create_future()

    asyncio.run(forever())


def run_until_killed(work: Callable[..., None], *arguments: object) -> None:
    process = FORK.Process(target=work, args=arguments)
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


def kill_self(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def read_everything(directory: Path, master: int, count: int) -> None:
    """A last keeper, that nobody kills."""
    session = take_up(directory, os.dup(master))
    async with asyncio.timeout(60):
        while session.end < count:
            await asyncio.sleep(0.005)
    session.close()


@pytest.mark.parametrize("shape", ["lines", "flood"])
def test_keepers_killed_at_any_moment_under_output(tmp_path: Path, terminal: tuple[int, int], shape: str) -> None:
    """FC-62: what a hundred keepers, each killed at a moment of its own, have recorded is what was printed."""
    master, slave = terminal
    chance = random.Random(62)
    text = b"".join(b"%07d\r\n" % number for number in range(400_000))
    size, pause_s = (9, 0.0005) if shape == "lines" else (4096, 0.0)
    sent = 0

    def program() -> None:
        nonlocal sent
        while not over:
            sent += os.write(slave, text[sent : sent + size])
            time.sleep(pause_s)

    over, writer = False, Thread(target=program)
    writer.start()
    for _ in range(100):
        keeper = FORK.Process(target=keep, args=(tmp_path, master))
        keeper.start()
        time.sleep(chance.uniform(0.0, 0.03))
        keeper.kill()
        keeper.join()
    over = True
    drain = FORK.Process(target=keep, args=(tmp_path, master))  # the program may be waiting to be read
    drain.start()
    writer.join(60)
    drain.kill()
    drain.join()
    asyncio.run(read_everything(tmp_path, master, sent))
    assert sent > 1000
    assert printed(tmp_path) == text[:sent]


MOMENTS = ["read", "counted", "before the record", "in the record", "room free", "settled"]


def settle_until(directory: Path, master: int, moment: str) -> None:
    """Read what is there and be killed at a moment of doing so."""
    record = Record(directory / "r")
    journal = Journal(directory / "j", record)
    readv, output = os.readv, record.output

    class Numbers(list[int]):
        def __setitem__(self, which: object, value: object) -> None:
            kill_self()

    def output_and_kill(data: Any) -> None:
        output(data)
        kill_self()

    def read_and_kill(*arguments: object) -> None:
        readv(*arguments)  # type: ignore[arg-type]
        kill_self()

    if moment == "read":
        os.readv = read_and_kill  # type: ignore[assignment]
    journal.read(master, 4096)
    if moment == "counted":
        kill_self()
    if moment == "before the record":
        record.output = kill_self  # type: ignore[method-assign, assignment]
    elif moment == "in the record":
        record.output = output_and_kill  # type: ignore[method-assign]
    elif moment == "room free":
        journal._numbers = Numbers(journal._numbers)  # type: ignore[assignment]
    journal.settle()
    kill_self()


@pytest.mark.parametrize("moment", MOMENTS)
def test_each_step_of_settling_can_be_the_last(tmp_path: Path, terminal: tuple[int, int], moment: str) -> None:
    master, slave = terminal
    for part in (b"first\xff\n", b"second", b"\xe2\x94\x80 third"):
        os.write(slave, part)
        run_until_killed(settle_until, tmp_path, master, moment)
    record = Record(tmp_path / "r")
    journal = Journal(tmp_path / "j", record)
    assert printed(tmp_path) == b"first\xff\nsecond\xe2\x94\x80 third"
    assert record.end == len(printed(tmp_path))
    assert len(journal) == 0


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_keeper_killed_while_it_takes_up_what_another_left_can_be_followed_by_a_third(
    tmp_path: Path, terminal: tuple[int, int], moment: str
) -> None:
    master, slave = terminal
    os.write(slave, b"left behind")
    run_until_killed(settle_until, tmp_path, master, moment)

    def taken_up_in_vain() -> None:
        output = Record.output

        def output_and_kill(self: Record, data: bytes) -> None:
            output(self, data)
            kill_self()

        Record.output = output_and_kill  # type: ignore[method-assign, assignment]
        Journal(tmp_path / "j", Record(tmp_path / "r"))
        kill_self()

    run_until_killed(taken_up_in_vain)
    Journal(tmp_path / "j", Record(tmp_path / "r"))
    assert printed(tmp_path) == b"left behind"


def test_numbers_go_on_where_a_full_record_only_counted(tmp_path: Path, terminal: tuple[int, int]) -> None:
    """A client that stands at a number must never get bytes that another number had."""
    master, slave = terminal

    def fill() -> None:
        record = Record(tmp_path / "r", limit_bytes=1000)
        journal = Journal(tmp_path / "j", record)
        for _ in range(50):
            os.write(slave, b"x" * 100)
            journal.read(master, 4096)
            journal.settle()
        kill_self()

    run_until_killed(fill)
    record = Record(tmp_path / "r", limit_bytes=1000)
    assert record.end < 5000
    Journal(tmp_path / "j", record)
    assert record.end == 5000
    assert Record(tmp_path / "r").end == 5000, "and that is noted"


def test_a_journal_of_another_start_of_the_host_is_not_believed(
    tmp_path: Path, terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    master, slave = terminal
    os.write(slave, b"before the power went")
    run_until_killed(settle_until, tmp_path, master, "counted")
    monkeypatch.setattr("workspaces.terminal.journal._mark", lambda: b"FDEGYM-JOURNAL-1\nanother-boot\n")
    record = Record(tmp_path / "r")
    journal = Journal(tmp_path / "j", record)
    assert (record.end, len(journal)) == (0, 0)
    os.write(slave, b"new")
    assert journal.read(master, 99) == 3
    assert journal.pending() == b"new"


def test_without_room_for_a_journal_the_terminal_works(
    tmp_path: Path, terminal: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    master, slave = terminal
    record = Record(tmp_path / "r")
    journal = Journal(tmp_path / "j", record)
    os.write(slave, b"works")
    assert journal.read(master, ROOM_BYTES) == 5
    assert journal.pending() == b"works"
    journal.settle()
    assert record.read_output(0, 99) == b"works"


# what was typed


class Nowhere:
    """An outlet of somebody who looks away."""

    def ready(self) -> bool:
        return False

    def send_bytes(self, data: bytes) -> None: ...

    def send_control(self, said: dict[str, Any]) -> None: ...

    def hold_input(self, hold: bool) -> None: ...


@pytest.mark.parametrize("ending", ["killed", "told to end"])
def test_a_paste_that_waits_for_its_program_outlives_the_keeper(
    tmp_path: Path, terminal: tuple[int, int], ending: str
) -> None:
    """FC-10: the next keeper goes on with it where the PTY stopped taking it."""
    master, slave = terminal
    paste = random.Random(10).randbytes(300_000)

    async def typing() -> None:
        session = take_up(tmp_path, os.dup(master))
        viewer = session.attach(Nowhere(), owner=True, after=None, size=None, fresh=True)
        session.type(viewer, paste)
        if ending == "told to end":
            session.close()
        kill_self()

    async def go_on() -> bytes:
        session, got = take_up(tmp_path, os.dup(master)), bytearray()
        os.set_blocking(slave, False)
        async with asyncio.timeout(60):
            while len(got) < len(paste):
                try:
                    got += os.read(slave, 65536)
                except BlockingIOError:
                    await asyncio.sleep(0.001)
            await asyncio.sleep(0.05)
        session.close()
        return bytes(got)

    run_until_killed(lambda: asyncio.run(typing()))
    assert asyncio.run(go_on()) == paste
    with pytest.raises(BlockingIOError):
        os.read(slave, 1)


def test_what_a_dead_shell_did_not_read_is_not_typed_into_a_new_one(tmp_path: Path, terminal: tuple[int, int]) -> None:
    master, _ = terminal

    async def typing() -> None:
        session = take_up(tmp_path, os.dup(master))
        viewer = session.attach(Nowhere(), owner=True, after=None, size=None, fresh=True)
        session.type(viewer, b"x" * 300_000)
        kill_self()

    run_until_killed(lambda: asyncio.run(typing()))

    async def new_shell() -> None:
        other_master, other_slave = pty.openpty()
        tty.setraw(other_slave)
        os.set_blocking(other_slave, False)
        record = Record(tmp_path / "r")
        session = TerminalSession(1, other_master, record, Journal(tmp_path / "j", record), lambda _: None)
        await asyncio.sleep(0.05)
        with pytest.raises(BlockingIOError):
            os.read(other_slave, 1)
        session.close()
        os.close(other_slave)

    asyncio.run(new_shell())
