"""What users of web terminals met elsewhere: odd characters, long histories, storms of sizes, pastes into editors."""

from __future__ import annotations

import asyncio
import codecs
import os
import pty
import random
import shutil
import termios
import threading
import tty
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from keeper_process import KeeperProcess

from tests.workspaces.attached import attach, until
from workspaces import services
from workspaces.keeper.workspace import Workspace
from workspaces.terminal.flow import FRESH_BYTES
from workspaces.terminal.journal import Journal
from workspaces.terminal.record import Kind, Record, entries
from workspaces.terminal.session import SEND_BYTES, TerminalSession

CHARACTERS = "aé─—“你好钻井🛢️👷🏽‍♀️\u200d\u0080"


class Page:
    """An outlet that decodes frame by frame, as the page does."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.said: list[dict[str, Any]] = []
        self.text = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")

    def ready(self) -> bool:
        return True

    def send_bytes(self, data: bytes) -> None:
        self.frames.append(data)
        self.text += self._decoder.decode(data)

    def send_control(self, said: dict[str, Any]) -> None:
        self.said.append(said)

    def hold_input(self, hold: bool) -> None: ...


def make_session(tmp_path: Path) -> tuple[TerminalSession, int]:
    """A session whose program is this test: it writes to the returned descriptor."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(slave, False)
    record = Record(tmp_path / "r")
    return TerminalSession(1, master, record, Journal(tmp_path / "j", record), lambda _: None), slave


async def print_in_pieces(session: TerminalSession, slave: int, data: bytes, piece: Callable[[], int]) -> None:
    """Print it piece by piece and wait until all of it was read."""
    end, view = session.end + len(data), memoryview(data)
    async with asyncio.timeout(120):
        while view:
            try:
                view = view[os.write(slave, view[: piece()]) :]
            except BlockingIOError:
                await asyncio.sleep(0.001)
            if len(view) % 7 == 0:
                await asyncio.sleep(0)
        while session.end < end:
            await asyncio.sleep(0.005)


async def test_two_megabytes_of_wide_characters_in_odd_pieces_arrive_character_by_character(tmp_path: Path) -> None:
    """FC-1, FC-2: wherever a write, a read or a frame cuts a character, and however busy the machine is."""
    session, slave = make_session(tmp_path)
    page, chance = Page(), random.Random(2)
    session.attach(page, owner=True, after=None, size=(80, 24), fresh=True)
    text = "".join(chance.choices(CHARACTERS, k=600_000))
    await print_in_pieces(session, slave, text.encode(), lambda: chance.choice([1, 2, 3, 5, 1021, 4093]))
    assert page.text == text
    assert any(frame[0] & 0xC0 == 0x80 for frame in page.frames), "no frame began inside a character: nothing was tried"
    session.close()
    os.close(slave)


async def test_a_long_history_comes_in_few_large_frames_and_only_its_end_to_a_new_page(tmp_path: Path) -> None:
    """FC-34."""
    session, slave = make_session(tmp_path)
    history = b"".join(b"%09d\r\n" % number for number in range(450_000))  # five megabytes
    watching = Page()
    session.attach(watching, owner=True, after=None, size=(80, 24), fresh=True)
    await print_in_pieces(session, slave, history, lambda: 4096)
    new, behind = Page(), Page()
    session.attach(new, owner=True, after=None, size=None, fresh=False)
    session.attach(behind, owner=True, after=0, size=None, fresh=False)
    assert b"".join(new.frames) == history[-FRESH_BYTES:]
    assert b"".join(behind.frames) == history
    assert len(new.frames) <= FRESH_BYTES / SEND_BYTES + 1
    assert len(behind.frames) < 2 * len(history) / SEND_BYTES
    session.close()
    os.close(slave)


async def test_a_storm_of_sizes_ends_at_the_last_one_for_everybody(tmp_path: Path) -> None:
    """FC-24, FC-25."""
    session, slave = make_session(tmp_path)
    one, other, chance = Page(), Page(), random.Random(24)
    viewers = [
        session.attach(one, owner=True, after=None, size=(80, 24), fresh=True),
        session.attach(other, owner=True, after=None, size=(200, 50), fresh=False),
    ]
    for number in range(2000):
        session.resize(chance.choice(viewers), chance.randint(2, 1000), chance.randint(1, 1000))
        if number % 50 == 0:
            await asyncio.sleep(0)
    session.resize(viewers[0], 132, 43)
    assert termios.tcgetwinsize(slave) == (43, 132)
    for page in (one, other):
        sizes = [said for said in page.said if said["type"] == "size"]
        assert (sizes[-1]["columns"], sizes[-1]["rows"]) == (132, 43)
    session.close()
    os.close(slave)
    recorded = [content for _, kind, content, _ in entries(tmp_path / "r") if kind is Kind.SIZE]
    assert recorded[-1] == b'{"columns": 132, "rows": 43}'


# in a real workspace


EDITORS = {
    # what is typed before and after the paste
    "vim": (b"vim --clean pasted\n", b"i", b"\x1b:wq\r"),
    "nano": (b"nano --ignorercfiles pasted\n", b"", b"\x0f\r\x18"),
}


@pytest.mark.sandbox
@pytest.mark.parametrize("lines", [50, 500, 5000])
@pytest.mark.parametrize("editor", ["vim", "nano"])
async def test_pasted_lines_arrive_whole_in_an_editor(
    keeper: KeeperProcess, open_run: Callable[[], str], editor: str, lines: int
) -> None:
    """FC-14: as a page sends them, in one bracketed paste."""
    if shutil.which(editor) is None:
        pytest.skip(f"this machine has no {editor} to show in a workspace")
    run_id = await asyncio.to_thread(open_run)
    stream = await attach(keeper, run_id)
    text = "".join(f"    line {number}: the quick brown fox\n" for number in range(lines))
    start, before, after = EDITORS[editor]
    await stream.type(b"cd /workspace/deliverables\n" + start)
    await until(stream, b"\x1b[?1049h")
    await stream.type(before + b"\x1b[200~" + text.replace("\n", "\r").encode() + b"\x1b[201~")
    await until(stream, b"line %d:" % (lines - 1))
    await stream.type(after)
    await until(stream, b"\x1b[?1049l")
    kept = await asyncio.to_thread(services.read_file, run_id, "/workspace/deliverables/pasted")
    assert kept.decode().rstrip("\n") == text.rstrip("\n")


@pytest.mark.sandbox
async def test_escapes_in_what_a_program_prints_reach_the_page_as_they_are_and_nothing_else_acts_on_them(
    keeper: KeeperProcess, open_run: Callable[[], str]
) -> None:
    """FC-47: titles, clipboards and links are bytes of the stream on the way; the record keeps them as such."""
    run_id = await asyncio.to_thread(open_run)
    stream = await attach(keeper, run_id)
    await stream.type(
        b"printf '\\033]0;<img src=x onerror=alert(1)>\\007\\033]52;c;aGFja2Vk\\007"
        b"\\033]8;;javascript:alert(1)\\007link\\033]8;;\\007'; echo do''ne\n"
    )
    seen = await until(stream, b"done\r\n")
    assert b"\x1b]0;<img src=x onerror=alert(1)>\x07\x1b]52;c;aGFja2Vk\x07" in seen
    lines = await asyncio.to_thread(lambda: "".join(services.terminal_record(run_id, 1)))
    assert "\\u001b]52;c;aGFja2Vk\\u0007" in lines


class Shells:
    """A sandbox in which this test is every shell, and says when it is known how one ended."""

    def __init__(self) -> None:
        self.shells: list[int] = []
        self.asked, self.known = threading.Event(), threading.Event()
        self.closed: list[int] = []

    def open_terminal(self, *, columns: int, rows: int, number: int) -> tuple[int, int]:
        master, shell = pty.openpty()
        self.shells.append(shell)
        return master, len(self.shells)

    def terminals(self) -> list[dict[str, Any]]:
        self.asked.set()
        self.known.wait()
        return [{"number": 1, "status": 0}]

    def close_terminal(self, number: int) -> None:
        self.closed.append(number)


async def test_a_shell_that_is_opened_the_moment_the_old_one_ended_is_not_ended_with_it(tmp_path: Path) -> None:
    """By a page that came back just then."""
    sandbox, page = Shells(), Page()
    runtime = cast(Any, SimpleNamespace(get=lambda run_id: sandbox))
    with ThreadPoolExecutor(2) as pool:
        workspace = Workspace("run", runtime, tmp_path, pool, terminals_max=8)
        old, _ = await workspace.terminal(1, owner=True, columns=80, rows=24)
        old.attach(page, owner=True, after=None, size=None, fresh=True)
        os.close(sandbox.shells[0])
        await asyncio.to_thread(sandbox.asked.wait)
        new, fresh = await workspace.terminal(1, owner=True, columns=80, rows=24)
        sandbox.known.set()
        async with asyncio.timeout(60):
            while page.said[-1]["type"] != "exit":
                await asyncio.sleep(0.01)
        assert fresh
        assert not new.ended
        assert sandbox.closed == []
        workspace.release()
        os.close(sandbox.shells[1])
