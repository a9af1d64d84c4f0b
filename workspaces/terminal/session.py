"""One terminal in the keeper: reads its PTY, numbers and records what it prints, feeds those who look on."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import struct
import termios
import time
from collections.abc import Callable
from typing import Any, Protocol

from workspaces.terminal.flow import SCREEN_BYTES, Audience, Viewer, begin_at
from workspaces.terminal.journal import Journal
from workspaces.terminal.record import Kind, Record

BATCH_S = 0.002
BATCH_BYTES = 32 << 10
READ_BYTES = 32 << 10  #: with BATCH_BYTES, no more than the journal's room
TRICKLE_BYTES = 256
SHORT_READ_BYTES = 2048
RING_BYTES = 1 << 20
SEND_BYTES = 64 << 10
INPUT_QUEUE_BYTES = 1 << 20
INPUT_BYTES = 16 << 10  #: what is offered to the PTY at once


class Outlet(Protocol):
    """Where a viewer's bytes go: a connection of the site."""

    def ready(self) -> bool:
        """Whether it takes more now."""
        ...

    def send_bytes(self, data: bytes) -> None: ...

    def send_control(self, said: dict[str, Any]) -> None: ...

    def hold_input(self, hold: bool) -> None:
        """Stop or go on listening to it."""
        ...


class TerminalSession:
    """All of it lives in the event loop's thread. ``on_end`` is called once, when the PTY is gone.

    ``taken_up``: the shell is one that a former keeper had, and gets what was typed for it and did not reach it.
    """

    def __init__(
        self,
        number: int,
        master: int,
        record: Record,
        journal: Journal,
        on_end: Callable[[TerminalSession], None],
        *,
        taken_up: bool = False,
    ) -> None:
        self.number = number
        self.record = record
        self.journal = journal
        self.audience = Audience()
        self.last_active = time.monotonic()
        self.ended = False
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._master = master
        self._outlets: dict[Viewer, Outlet] = {}
        self.end = self.began = record.end  #: sequence number of the next byte; where this shell begins
        self._ring = bytearray()
        self._ring_start = record.end
        self._latest = b""  #: the ring's last bytes, for whoever has all others
        self._input = bytearray()
        self._holding_input = False
        self._flush: asyncio.TimerHandle | None = None
        self._flushed_at = 0.0
        self._reading = False
        self._rest: asyncio.TimerHandle | None = None
        self._size: tuple[int, int] | None = None
        os.set_blocking(master, False)
        if taken_up and journal.typed < record.typed:
            self._input += record.read_typed(journal.typed)
            self._loop.add_writer(master, self._write_on)
        else:
            journal.typed = record.typed
        self._read_on()

    # output

    def _read_on(self) -> None:
        self._rest = None
        if self.ended or self._reading:
            return
        if self._held():
            return  # begun again by ``_pump``, when the viewer has caught up
        self._reading = True
        self._loop.add_reader(self._master, self._readable)

    def _pause_reading(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._master)

    def _readable(self) -> None:
        total, ended = 0, False
        while total < READ_BYTES:
            try:
                count = self.journal.read(self._master, READ_BYTES - total)
            except BlockingIOError:
                break
            except OSError as error:
                ended = error.errno in (errno.EIO, errno.EBADF)
                break
            if not count:
                ended = True
                break
            total += count
            if count < SHORT_READ_BYTES:
                break  # that was all: asking again only to be told so costs as much as reading
        if total:
            self._gather(total)
        if ended:
            self.end_session()

    def _gather(self, count: int) -> None:
        """A little output after a pause is passed on at once; what follows is gathered for two milliseconds."""
        now = self._loop.time()
        if len(self.journal) >= BATCH_BYTES or (self._flush is None and now - self._flushed_at >= BATCH_S):
            self._pass_on()
        elif self._flush is None:
            self._flush = self._loop.call_at(self._flushed_at + BATCH_S, self._pass_on)
            if count < TRICKLE_BYTES:  # a program that prints byte by byte must not wake us for each
                self._rest_for(BATCH_S)

    def _pass_on(self) -> None:
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        data = self._latest = self.journal.pending()
        if not data:
            return
        self.end += len(data)
        self._ring += data
        if len(self._ring) > 2 * RING_BYTES:
            surplus = len(self._ring) - RING_BYTES
            del self._ring[:surplus]
            self._ring_start += surplus
        self.last_active = time.monotonic()
        for viewer in list(self.audience.viewers):
            self._pump(viewer)
        self.journal.settle()  # after those who wait for it: until then the journal keeps it
        self._flushed_at = self._loop.time()
        rest_s = self.audience.printed(len(data))
        if rest_s:
            self._rest_for(rest_s)
        elif self._held():
            self._pause_reading()

    def _rest_for(self, rest_s: float) -> None:
        self._pause_reading()
        if self._rest is not None:
            self._rest.cancel()
        self._rest = self._loop.call_later(rest_s, self._read_on)

    def _held(self) -> bool:
        # while input waits nothing is held back: acknowledgements may be queued behind that very input
        return not self._holding_input and self.audience.held(self.end)

    def _bytes_from(self, start: int, count: int) -> bytes:
        if start == self.end - len(self._latest) and count >= len(self._latest):
            return self._latest
        if start >= self._ring_start:
            offset = start - self._ring_start
            return bytes(self._ring[offset : offset + count])
        return self.record.read_output(start, min(count, self._ring_start - start))

    def _skip_to(self, viewer: Viewer, to: int) -> None:
        self._outlets[viewer].send_control({"type": "gap", "from": viewer.sent, "to": to})
        viewer.sent = to
        if viewer.acked is not None:
            viewer.acked = max(viewer.acked, to)

    def _pump(self, viewer: Viewer) -> None:
        """Send a viewer what it may have now."""
        outlet = self._outlets.get(viewer)
        if outlet is None:
            return
        if self.audience.must_skip(viewer, self.end) and outlet.ready():
            self._skip_to(viewer, max(viewer.sent, self.end - SCREEN_BYTES))
        while outlet.ready():
            if viewer.reset_at is not None and viewer.sent >= viewer.reset_at:
                viewer.reset_at = None
                outlet.send_control({"type": "reset"})
            until = self.end if viewer.reset_at is None else viewer.reset_at
            count = min(SEND_BYTES, viewer.allowance(), until - viewer.sent)
            if count <= 0:
                break
            data = self._bytes_from(viewer.sent, count)
            if not data:  # neither in memory nor in the record any more
                self._skip_to(viewer, min(self.end, max(self._ring_start, viewer.sent + 1)))
                continue
            outlet.send_bytes(data)
            viewer.sent += len(data)
        if not self._reading and self._rest is None:
            self._read_on()

    # viewers

    def attach(
        self, outlet: Outlet, *, owner: bool, after: int | None, size: tuple[int, int] | None, fresh: bool
    ) -> Viewer:
        """Begin to feed a client: what it missed first, then what comes, in one order.

        ``fresh``: the shell is new, so the client must leave the modes of the old one, after what it missed of it.
        """
        stands_at, begins_at = begin_at(after, self.end)
        if fresh and (after is None or after > self.began):
            stands_at = begins_at = self.began
        viewer = Viewer(owner=owner, sent=stands_at, size=size, reset_at=self.began if fresh else None)
        self._outlets[viewer] = outlet
        self.audience.join(viewer)
        columns, rows = size if owner and size else self._size or (80, 24)
        role = "owner" if owner else "observer"
        hello = {
            "type": "hello",
            "terminal": self.number,
            "seq": stands_at,
            "columns": columns,
            "rows": rows,
            "role": role,
        }
        outlet.send_control(hello)
        if begins_at > stands_at:
            self._skip_to(viewer, begins_at)
        self._apply_size()
        self._pump(viewer)
        return viewer

    def detach(self, viewer: Viewer) -> None:
        """A client left, cleanly or not."""
        self.audience.leave(viewer)
        self._outlets.pop(viewer, None)
        self._apply_size()
        if not self._reading and self._rest is None:
            self._read_on()

    def writable(self, viewer: Viewer) -> None:
        """The client's socket takes more again."""
        self._pump(viewer)

    def acknowledge(self, viewer: Viewer, seq: int) -> None:
        """The client has shown everything up to ``seq``."""
        viewer.acknowledge(seq, self.end)
        self._pump(viewer)

    def resize(self, viewer: Viewer, columns: int, rows: int) -> None:
        """An owner's tab has this size now. Observers have none."""
        if viewer.owner:
            viewer.size = (columns, rows)
            self.audience.active(viewer)
            self._apply_size()

    def _apply_size(self) -> None:
        size = self.audience.size()
        if size is None or size == self._size or self.ended:
            return
        self._size = size
        with contextlib.suppress(OSError):  # a terminal that just ended has no size: nothing to do
            fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        self.record.note(Kind.SIZE, columns=size[0], rows=size[1])
        for outlet in self._outlets.values():
            outlet.send_control({"type": "size", "columns": size[0], "rows": size[1]})

    def sized(self, columns: int, rows: int) -> None:
        """The PTY was opened with this size."""
        self._size = (columns, rows)

    # input

    def type(self, viewer: Viewer, data: bytes) -> None:
        """Input of an owner; an observer's is dropped."""
        if not viewer.owner or self.ended:
            return
        if self.audience.active(viewer):
            self._apply_size()
        self.last_active = time.monotonic()
        if self._input:
            self.record.input(data)
            self._input += data
        else:  # the key first, then its record: somebody waits for its echo
            rest = data[self._give(data) :]
            self.record.input(data)
            if rest:
                self._input += rest
                self._loop.add_writer(self._master, self._write_on)
        if len(self._input) > INPUT_QUEUE_BYTES:
            self._holding_input = True
            for each, outlet in self._outlets.items():
                if each.owner:
                    outlet.hold_input(True)
            if not self._reading and self._rest is None:
                self._read_on()

    def _give(self, data: bytes | bytearray) -> int:
        """Give the PTY what it takes; return how much. Counted before: killed in between, a line is rather lost than run
        twice. For a shell that is gone everything is as good as taken.
        """
        typed, given = self.journal.typed, 0
        while given < len(data):
            part = data[given : given + INPUT_BYTES]
            self.journal.typed = typed + given + len(part)
            try:
                given += os.write(self._master, part)
            except BlockingIOError:
                break
            except OSError:
                return len(data)
        self.journal.typed = typed + given
        return given

    def _write_on(self) -> None:
        """Go on with what waits, when the PTY takes more."""
        del self._input[: self._give(self._input)]
        if not self._input:
            self.journal.typed = self.record.typed
            self._loop.remove_writer(self._master)
        self._let_input_come()

    def _let_input_come(self) -> None:
        if self._holding_input and len(self._input) <= INPUT_QUEUE_BYTES // 4:
            self._holding_input = False
            for outlet in self._outlets.values():
                outlet.hold_input(False)

    # the end

    def end_session(self) -> None:
        """The PTY is gone: stop reading, tell nobody yet (the keeper knows why)."""
        if self.ended:
            return
        self._let_go()
        self._on_end(self)

    def _let_go(self) -> None:
        self.ended = True
        self._pause_reading()
        self._loop.remove_writer(self._master)
        if self._rest is not None:
            self._rest.cancel()
        self._pass_on()
        os.close(self._master)

    def announce(self, said: dict[str, Any]) -> None:
        """Tell every viewer something that is no part of the stream."""
        for outlet in self._outlets.values():
            outlet.send_control(said)

    def farewell(self, said: dict[str, Any]) -> None:
        """Tell every viewer why nothing more comes."""
        for viewer, outlet in list(self._outlets.items()):
            while viewer.sent < self.end and (data := self._bytes_from(viewer.sent, SEND_BYTES)):
                outlet.send_bytes(data)
                viewer.sent += len(data)
            outlet.send_control(said)

    def close(self) -> None:
        """Let PTY and record go; the shell lives on and can be taken up again by another keeper."""
        if not self.ended:
            self._let_go()
        self.record.close()
        self.journal.close()
