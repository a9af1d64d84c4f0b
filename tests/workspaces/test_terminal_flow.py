"""Records, sequence numbers and flow: any splitting of the bytes and any pattern of reconnects gives each byte once."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import os
import pty
import tty
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workspaces.keeper.protocol import BYTES, HEAD, JSON, Splitter
from workspaces.terminal.flow import (
    CATCH_UP_BYTES,
    FRESH_BYTES,
    LAG_MAX_BYTES,
    UNATTENDED_BYTES,
    WINDOW_BYTES,
    Audience,
    Viewer,
    begin_at,
)
from workspaces.terminal.journal import Journal
from workspaces.terminal.protocol import parse_control
from workspaces.terminal.record import GAP_EVERY, Kind, Record, RecordDamaged, asciicast, entries
from workspaces.terminal.session import TerminalSession

CHUNKS = st.lists(st.binary(min_size=1, max_size=200), max_size=30)


# the record


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chunks=CHUNKS, cuts=st.lists(st.integers(0, 5000), max_size=8), reopen_at=st.integers(0, 30))
def test_any_range_of_a_record_reads_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], cuts: list[int], reopen_at: int
) -> None:
    path = tmp_path_factory.mktemp("record") / "r"
    record = Record(path)
    for number, chunk in enumerate(chunks):
        record.output(chunk)
        record.input(b"typed")
        if number == reopen_at:
            record.close()
            record = Record(path)
    whole = b"".join(chunks)
    assert record.end == len(whole)
    for start in cuts:
        assert record.read_output(start, 300) == whole[start : start + 300]
    record.close()
    assert b"".join(content for _, kind, content, _ in entries(path) if kind is Kind.OUTPUT) == whole


def test_a_torn_last_entry_is_cut_off_and_writing_goes_on(tmp_path: Path) -> None:
    record = Record(tmp_path / "r")
    record.output(b"whole")
    record.output(b"torn off")
    record.close()
    os.truncate(tmp_path / "r", (tmp_path / "r").stat().st_size - 3)
    record = Record(tmp_path / "r")
    assert record.end == 5
    record.output(b"!")
    assert record.read_output(0, 99) == b"whole!"


def test_a_file_that_is_no_record_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("something else, quite long")
    with pytest.raises(RecordDamaged):
        Record(tmp_path / "r")
    assert (tmp_path / "r").read_text() == "something else, quite long"


def test_a_full_record_counts_and_hashes_what_it_drops(tmp_path: Path) -> None:
    record = Record(tmp_path / "r", limit_bytes=10_000)
    record.output(b"a" * 5000)
    dropped = os.urandom(GAP_EVERY + 77)
    record.output(dropped[:9000])
    record.output(dropped[9000:])
    assert record.end == 5000 + len(dropped)
    record.close()
    gaps = [json.loads(content) for _, kind, content, _ in entries(tmp_path / "r") if kind is Kind.GAP]
    assert sum(gap["bytes"] for gap in gaps) == len(dropped)
    assert gaps[0]["sha256"] == hashlib.sha256(dropped).hexdigest()
    again = Record(tmp_path / "r", limit_bytes=10_000)
    assert again.end == 5000 + len(dropped), "the numbers go on where they were"
    assert again.read_output(6000, 10) == b""


def test_a_full_disk_of_the_host_makes_a_gap_and_not_a_dead_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, write, broken = Record(tmp_path / "r"), os.write, [True]

    def write_or_fail(descriptor: int, data: Any) -> int:
        if broken[0]:
            write(descriptor, data[:7])
            raise OSError(28, "No space left on device")
        return write(descriptor, data)

    record.output(b"before ")
    monkeypatch.setattr(os, "write", write_or_fail)
    record.output(b"lost")
    record.input(b"lost too")
    broken[0] = False
    record.output(b" after")
    assert record.end == 17
    record.close()
    assert [(kind, content) for _, kind, content, _ in entries(tmp_path / "r") if kind is Kind.OUTPUT] == [
        (Kind.OUTPUT, b"before "),
        (Kind.OUTPUT, b" after"),
    ]
    assert Record(tmp_path / "r").end == 17


def test_the_asciicast_keeps_characters_that_were_split(tmp_path: Path) -> None:
    """FC-1."""
    record = Record(tmp_path / "r")
    record.note(Kind.SHELL, columns=100, rows=30)
    record.output(b"A\xe2")
    record.output(b"\x94\x80B\xff")
    record.note(Kind.SIZE, columns=90, rows=20)
    record.input(b"x")
    record.close()
    header, *events = [json.loads(line) for line in asciicast(tmp_path / "r", title="t")]
    assert (header["version"], header["width"], header["height"]) == (2, 100, 30)
    assert "".join(text for _, kind, text in events if kind == "o") == "A─B�"
    assert [text for _, kind, text in events if kind in "ri"] == ["90x20", "x"]
    assert all(later[0] >= sooner[0] for sooner, later in itertools.pairwise(events))


# frames between keeper and site


@given(
    contents=st.lists(st.tuples(st.booleans(), st.binary(max_size=300)), max_size=12),
    cuts=st.lists(st.integers(1, 400)),
)
def test_frames_are_found_however_a_socket_cuts_them(contents: list[tuple[bool, bytes]], cuts: list[int]) -> None:
    """FC-1."""
    frames = [(BYTES if raw else JSON, content) for raw, content in contents]
    stream = b"".join(HEAD.pack(kind, len(content)) + content for kind, content in frames)
    splitter, found = Splitter(), []
    for cut in [*cuts, len(stream)]:
        found += splitter.feed(stream[:cut])
        stream = stream[cut:]
    assert found == frames


# flow


def test_only_the_controlling_viewer_holds_the_terminal() -> None:
    audience = Audience()
    owner, observer = Viewer(owner=True, sent=0, acked=0), Viewer(owner=False, sent=0, acked=0)
    audience.join(owner)
    audience.join(observer)
    owner.sent = owner.acked = 10 * WINDOW_BYTES
    assert not audience.held(10 * WINDOW_BYTES)
    owner.acked = 0
    assert audience.held(10 * WINDOW_BYTES)
    audience.leave(owner)
    assert not audience.held(10 * WINDOW_BYTES)


def test_a_held_terminal_goes_on_only_when_the_viewer_is_close_again() -> None:
    audience = Audience()
    viewer = Viewer(owner=True, sent=WINDOW_BYTES, acked=0)
    audience.join(viewer)
    assert not audience.held(WINDOW_BYTES)
    assert audience.held(WINDOW_BYTES + 1)
    viewer.acked = WINDOW_BYTES // 2
    assert audience.held(WINDOW_BYTES + 1)
    viewer.acked = WINDOW_BYTES
    assert not audience.held(WINDOW_BYTES + 1)


def test_control_follows_use_and_the_size_follows_control() -> None:
    """FC-25."""
    audience = Audience()
    wide, phone = Viewer(owner=True, sent=0, size=(200, 50)), Viewer(owner=True, sent=0, size=(40, 20))
    audience.join(wide)
    audience.join(phone)
    assert audience.controlling is phone
    assert audience.size() == (40, 20)
    assert audience.active(wide)
    assert audience.size() == (200, 50)
    audience.active(phone)
    audience.leave(phone)
    assert audience.size() == (200, 50), "a phone that left takes its size with it"


def test_an_observer_never_has_control() -> None:
    audience = Audience()
    audience.join(Viewer(owner=False, sent=0, size=(10, 10)))
    assert audience.controlling is None
    assert audience.size() is None


def test_unattended_output_is_slowed_only_after_eight_mebibytes() -> None:
    audience = Audience()
    assert audience.printed(UNATTENDED_BYTES) == 0
    assert audience.printed(256 << 10) == pytest.approx(1.0)
    audience.join(Viewer(owner=True, sent=0))
    assert audience.printed(1 << 20) == 0


def test_a_slow_observer_is_skipped_and_the_controlling_viewer_never() -> None:
    audience = Audience()
    owner, observer = Viewer(owner=True, sent=0), Viewer(owner=False, sent=0)
    audience.join(owner)
    audience.join(observer)
    assert audience.must_skip(observer, LAG_MAX_BYTES + 1)
    assert not audience.must_skip(owner, LAG_MAX_BYTES + 1)


@given(st.integers(0, 1 << 40), st.integers(0, 1 << 40))
def test_an_acknowledgement_is_believed_only_for_what_was_sent(sent: int, seq: int) -> None:
    viewer = Viewer(owner=True, sent=sent)
    viewer.acknowledge(seq, end=sent)
    assert viewer.acked in (None, seq)
    assert viewer.acked is None or viewer.acked <= sent


def test_a_viewer_begins_where_it_left_off() -> None:
    assert begin_at(None, 100) == (0, 0)
    assert begin_at(None, 10 * FRESH_BYTES) == (9 * FRESH_BYTES, 9 * FRESH_BYTES)
    assert begin_at(70, 100) == (70, 70)
    assert begin_at(500, 100) == (0, 0), "a number from another terminal's life counts for nothing"
    far = CATCH_UP_BYTES + 10
    assert begin_at(1, far) == (1, far - FRESH_BYTES)


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"size","columns":0,"rows":0}',
        '{"type":"size","columns":null,"rows":24}',
        '{"type":"size","columns":80.5,"rows":24}',
        '{"type":"size","columns":true,"rows":24}',
        '{"type":"size","columns":1,"rows":24}',
        '{"type":"size","columns":100000,"rows":24}',
        '{"type":"ack","seq":-1}',
        '{"type":"ack","seq":"1"}',
        '{"type":"resume"}',
        "[1]",
        "not json",
        "[" * 4000,
        '{"type":"size","columns":80,"rows":24}' + " " * 5000,
    ],
)
def test_absurd_control_frames_are_ignored(text: str) -> None:
    """FC-23."""
    assert parse_control(text) is None


def test_valid_control_frames_are_reduced_to_what_they_say() -> None:
    assert parse_control('{"type":"size","columns":80,"rows":24,"x":1}') == {"type": "size", "columns": 80, "rows": 24}
    assert parse_control('{"type":"ack","seq":5}') == {"type": "ack", "seq": 5}


# sessions on a real PTY


class Sink:
    """An outlet that notes everything and can be stopped."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.said: list[dict[str, Any]] = []
        self.open = True
        self.held_input = False

    def ready(self) -> bool:
        return self.open

    def send_bytes(self, data: bytes) -> None:
        self.data += data

    def send_control(self, said: dict[str, Any]) -> None:
        self.said.append(said)

    def hold_input(self, hold: bool) -> None:
        self.held_input = hold

    def position(self) -> int:
        """Where a client that counts bytes and obeys gaps believes to be."""
        start = next(said["seq"] for said in self.said if said["type"] == "hello")
        missed = sum(said["to"] - said["from"] for said in self.said if said["type"] == "gap")
        return int(start) + len(self.data) + missed


def make_session(tmp_path: Path) -> tuple[TerminalSession, int]:
    """A session whose program is this test: it writes to the returned descriptor."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(slave, False)
    record = Record(tmp_path / "r")
    return TerminalSession(1, master, record, Journal(tmp_path / "j", record), lambda _: None), slave


async def settle(session: TerminalSession, end: int, timeout_s: float = 20) -> None:
    async with asyncio.timeout(timeout_s):
        while session.end < end:
            await asyncio.sleep(0.003)
    await asyncio.sleep(0.02)


async def write_all(slave: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(slave, view[:4096]) :]
        except BlockingIOError:
            await asyncio.sleep(0.001)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    chunks=st.lists(st.binary(min_size=1, max_size=3000), min_size=1, max_size=12),
    reconnect=st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_every_byte_arrives_once_whatever_the_reconnects(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], reconnect: list[bool]
) -> None:
    """FC-1, FC-29, FC-30."""

    async def scenario() -> None:
        session, slave = make_session(tmp_path_factory.mktemp("session"))
        received, sent, sink = b"", 0, Sink()
        viewer = session.attach(sink, owner=True, after=None, size=(80, 24), fresh=True)
        for chunk, again in zip(chunks, reconnect, strict=False):
            if again:
                session.detach(viewer)
                received += bytes(sink.data)
                assert sink.position() == len(received)
                sink = Sink()
            await write_all(slave, chunk)
            sent += len(chunk)
            if again:
                viewer = session.attach(sink, owner=True, after=len(received), size=None, fresh=False)
            if again is False and len(chunk) % 2:
                await settle(session, sent)
        await settle(session, sent)
        assert received + bytes(sink.data) == b"".join(chunks)
        session.close()
        os.close(slave)

    asyncio.run(scenario())


async def test_two_viewers_get_the_same_bytes_and_an_observer_cannot_type(tmp_path: Path) -> None:
    session, slave = make_session(tmp_path)
    one, two = Sink(), Sink()
    owner = session.attach(one, owner=True, after=None, size=(80, 24), fresh=True)
    observer = session.attach(two, owner=False, after=None, size=(10, 5), fresh=False)
    await write_all(slave, b"hello")
    await settle(session, 5)
    session.type(observer, b"evil")
    session.resize(observer, 5, 5)
    session.type(owner, b"good")
    await asyncio.sleep(0.05)
    assert os.read(slave, 99) == b"good"
    assert one.data == two.data == b"hello"
    assert [said for said in two.said if said["type"] == "size"] == []
    assert next(said for said in two.said if said["type"] == "hello")["role"] == "observer"
    session.close()
    os.close(slave)


@pytest.mark.parametrize(("after", "missed"), [(None, b""), (3, b"?1003h of the old shell"), (999, b"")])
async def test_what_was_missed_of_an_old_shell_comes_before_the_reset(
    tmp_path: Path, after: int | None, missed: bytes
) -> None:
    """FC-32: modes that the old shell's output sets must not outlive the reset."""
    old, slave = make_session(tmp_path)
    await write_all(slave, b"abc?1003h of the old shell")
    await settle(old, 26)
    old.close()
    os.close(slave)
    session, slave = make_session(tmp_path)
    sink = Sink()
    order: list[object] = []
    sink.send_bytes = order.append  # type: ignore[method-assign]
    sink.send_control = order.append  # type: ignore[method-assign, assignment]
    session.attach(sink, owner=True, after=after, size=None, fresh=True)
    await write_all(slave, b"new")
    await settle(session, 29)
    kinds = [each if isinstance(each, bytes) else each["type"] for each in order]  # type: ignore[index]
    assert kinds == ["hello", *([missed] if missed else []), "reset", b"new"]
    session.close()
    os.close(slave)


async def test_a_viewer_that_never_reads_cannot_hold_the_others(tmp_path: Path) -> None:
    session, slave = make_session(tmp_path)
    owner, stuck = Sink(), Sink()
    session.attach(owner, owner=True, after=None, size=None, fresh=True)
    viewer = session.attach(stuck, owner=False, after=None, size=None, fresh=False)
    stuck.open = False
    data = os.urandom(2 * LAG_MAX_BYTES)
    await write_all(slave, data)
    await settle(session, len(data))
    assert bytes(owner.data) == data
    stuck.open = True
    session.writable(viewer)
    assert stuck.position() == len(data)
    assert [said["type"] for said in stuck.said] == ["hello", "gap"]
    assert data.endswith(bytes(stuck.data[-1000:]))
    session.close()
    os.close(slave)


async def test_the_terminal_waits_for_a_controlling_viewer_that_acknowledges_slowly(tmp_path: Path) -> None:
    """FC-5: what is under way stays bounded, so that Ctrl-C acts soon."""
    session, slave = make_session(tmp_path)
    sink = Sink()
    viewer = session.attach(sink, owner=True, after=None, size=None, fresh=True)
    session.acknowledge(viewer, 0)
    total = 3 * WINDOW_BYTES
    writing = asyncio.ensure_future(write_all(slave, b"y" * total))
    await asyncio.sleep(0.7)
    assert len(sink.data) <= WINDOW_BYTES
    assert not writing.done()
    while not writing.done() or session.end < total:
        session.acknowledge(viewer, len(sink.data))
        await asyncio.sleep(0.005)
    await settle(session, total)
    session.acknowledge(viewer, len(sink.data))
    assert len(sink.data) == total
    session.close()
    os.close(slave)


async def test_a_large_paste_arrives_whole_and_blocks_nobody(tmp_path: Path) -> None:
    """FC-10, FC-11."""
    session, slave = make_session(tmp_path)
    sink = Sink()
    viewer = session.attach(sink, owner=True, after=None, size=None, fresh=True)
    paste = os.urandom(2 << 20)
    for start in range(0, len(paste), 100_000):
        session.type(viewer, paste[start : start + 100_000])
    assert sink.held_input, "more input is not taken while this much waits"
    got = bytearray()
    async with asyncio.timeout(30):
        while len(got) < len(paste):
            try:
                got += os.read(slave, 65536)
            except BlockingIOError:
                await asyncio.sleep(0.001)
    assert got == paste
    await asyncio.sleep(0.05)
    assert not sink.held_input
    session.close()
    os.close(slave)


async def test_the_end_of_the_program_comes_after_its_last_byte(tmp_path: Path) -> None:
    session, slave = make_session(tmp_path)
    sink = Sink()
    session.attach(sink, owner=True, after=None, size=None, fresh=True)
    os.write(slave, b"last words")
    os.close(slave)
    async with asyncio.timeout(60):
        while not session.ended:
            await asyncio.sleep(0.01)
    session.farewell({"type": "exit", "status": 0})
    assert sink.data == b"last words"
    assert sink.said[-1]["type"] == "exit"
    session.resize(session.audience.viewers[0], 90, 20)  # FC-21: quietly nothing
