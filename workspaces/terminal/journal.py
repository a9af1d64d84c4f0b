"""What was read from a terminal and is not in its record yet, in pages that outlive the process that read it.

A process that is killed between reading a PTY and writing what it read takes those bytes with it. So the kernel reads
straight into a shared mapping of a small file beside the record, and whoever takes the terminal up finds them there.

The file: a mark with the host's boot, then native 64-bit numbers: where in the output's numbering the room's bytes begin,
where they end, and how much of what was typed has reached the PTY. Then the room. What is free of it is ``FREE``: a read
that was not counted any more is known by what it overwrote. (``FREE`` is in no UTF-8 text. Only such bytes at the very end
of such a read are not seen.) Each step leaves a state from which ``Journal`` knows what to do, see ``settle``.
"""

from __future__ import annotations

import logging
import mmap
import os
from pathlib import Path

from workspaces.terminal.record import Record

logger = logging.getLogger(__name__)
ROOM_BYTES = 64 << 10
FREE = b"\xff"
_NUMBERS_AT, _ROOM_AT = 128, mmap.PAGESIZE
_BEGINS, _ENDS, _TYPED = range(3)
_FREE_ROOM = memoryview(FREE * ROOM_BYTES)


def _mark() -> bytes:
    """After a start of the host, pages and record were saved at different moments: such a journal says nothing."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()
    return b"FDEGYM-JOURNAL-1\n" + boot + b"\n"


class Journal:
    """Belongs to one terminal session and its record. Making one brings the record up to date."""

    def __init__(self, path: Path, record: Record) -> None:
        self._record = record
        self._pages = self._map(path)
        view = memoryview(self._pages)
        self._numbers = view[_NUMBERS_AT : _NUMBERS_AT + 24].cast("Q")
        self._room = view[_ROOM_AT:]
        mark = _mark()
        if view[: len(mark)] == mark:
            self._recover()
        else:
            self._room[:] = _FREE_ROOM
            self._numbers[_BEGINS] = self._numbers[_ENDS] = record.end
            self._numbers[_TYPED] = record.typed
            view[: len(mark)] = mark

    @staticmethod
    def _map(path: Path) -> mmap.mmap:
        """The file's pages; where the host's disk is full, pages of this process alone: the terminal works all the same."""
        size = _ROOM_AT + ROOM_BYTES
        descriptor = -1
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.posix_fallocate(descriptor, 0, size)  # a page without a place on the disk would kill the process
            return mmap.mmap(descriptor, size)
        except OSError as error:
            logger.warning("without the journal %s a killed keeper would lose output: %s", path.name, error)
            return mmap.mmap(-1, size)
        finally:
            if descriptor >= 0:
                os.close(descriptor)

    def _recover(self) -> None:
        """Into the record with what it lacks, whenever the former process ended."""
        record, begins = self._record, self._numbers[_BEGINS]
        if record.end < begins:  # what a full record counts and drops is noted only now and then
            record.skip_to(begins, "the record was full when the keeper was killed")
        found = max(self._numbers[_ENDS] - begins, len(bytes(self._room).rstrip(FREE)))
        missing = bytes(self._room[record.end - begins : found])
        if missing:
            record.output(missing)
        self._room[:] = _FREE_ROOM
        self._numbers[_ENDS] = record.end
        self._numbers[_BEGINS] = record.end

    # output

    def __len__(self) -> int:
        """Bytes that were read and are not in the record yet."""
        return self._numbers[_ENDS] - self._numbers[_BEGINS]

    def read(self, descriptor: int, count: int) -> int:
        """Read at most ``count`` bytes; return how many came, 0 at the end. Raises what ``os.readv`` does."""
        filled = len(self)
        got = os.readv(descriptor, [self._room[filled : filled + count]])
        self._numbers[_ENDS] += got
        return got

    def pending(self) -> bytes:
        """What was read and is not in the record yet."""
        return bytes(self._room[: len(self)])

    def settle(self) -> None:
        """Write everything that is pending into the record.

        Killed before the record is written, the room has it; after that, the record's end shows that it has it; with the
        room free there is nothing to take, whatever the numbers say; the last step is a single store.
        """
        count = len(self)
        if count:
            self._record.output(self._room[:count])
            self._room[:count] = _FREE_ROOM[:count]
            self._numbers[_BEGINS] = self._numbers[_ENDS]

    # input

    @property
    def typed(self) -> int:
        """How many of the bytes typed, counted as the record does, were given to the PTY."""
        return self._numbers[_TYPED]

    @typed.setter
    def typed(self, count: int) -> None:
        self._numbers[_TYPED] = count

    def close(self) -> None:
        """Let the pages go; the file stays for the terminal's next shell."""
        self._numbers.release()
        self._room.release()
        self._pages.close()
