"""A terminal's record: everything it printed and was told, with times, in an append-only binary file.

The file begins with ``MAGIC``. Then entries: time (8 bytes, float, seconds since 1970), kind (1 byte), length (4 bytes),
content. All numbers are big-endian. Output is numbered by its bytes: the record is where sequence numbers live. Beyond
``limit_bytes`` output is no longer kept but still counted: gap entries hold its length and SHA-256.
"""

from __future__ import annotations

import bisect
import contextlib
import hashlib
import json
import logging
import os
import struct
import time
from collections.abc import Iterator
from enum import IntEnum
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)
MAGIC = b"FDEGYM-TERMINAL-1\n"
ENTRY = struct.Struct("!dBI")
LIMIT_BYTES = 64 << 20
INDEX_EVERY = 64 << 10
GAP_EVERY = 1 << 20


class Kind(IntEnum):
    """What an entry is."""

    OUTPUT = 1
    INPUT = 2
    SIZE = 3  #: content: JSON columns, rows
    GAP = 4  #: content: JSON bytes, sha256, reason
    SHELL = 5  #: a new shell begins; content: JSON
    EXIT = 6  #: the shell ended; content: JSON status
    KEEPER = 7  #: another keeper goes on with the shell; content: empty JSON


class RecordDamaged(Exception):
    """The file is not a terminal's record."""


def entries(path: Path) -> Iterator[tuple[float, Kind, bytes, int]]:
    """(time, kind, content, position in the file) of each complete entry. A torn last entry is left out."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise RecordDamaged(f"{path.name} is not a terminal's record.")
        while True:
            position = file.tell()
            head = file.read(ENTRY.size)
            if len(head) < ENTRY.size:
                return
            when, kind, length = ENTRY.unpack(head)
            content = file.read(length)
            if len(content) < length or kind not in Kind.__members__.values():
                return
            yield when, Kind(kind), content, position


class Record:
    """The writing side, owned by one terminal session. Writes go straight to the kernel: a killed keeper loses none."""

    def __init__(self, path: Path, *, limit_bytes: int = LIMIT_BYTES) -> None:
        self.path = path
        self.limit_bytes = limit_bytes
        self.end = 0  #: sequence number of the next output byte
        self.typed = 0  #: bytes of input in it
        self.full = False
        self._starts: list[int] = []  #: sequence numbers, ascending …
        self._positions: list[int] = []  #: … and where in the file their entries are
        self._dropped = 0
        self._hash = hashlib.sha256()
        path.parent.mkdir(parents=True, exist_ok=True)
        existed = path.exists() and path.stat().st_size > 0
        self._size = self._scan() if existed else 0
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.ftruncate(self._file, self._size)
        if not existed:
            os.write(self._file, MAGIC)
            self._size = len(MAGIC)
        os.lseek(self._file, self._size, os.SEEK_SET)

    def _scan(self) -> int:
        size = len(MAGIC)
        for _, kind, content, position in entries(self.path):
            self._note(kind, content, position)
            size = position + ENTRY.size + len(content)
        self.full = size >= self.limit_bytes
        return size

    def _note(self, kind: Kind, content: bytes | memoryview, position: int) -> None:
        if kind is Kind.OUTPUT:
            if not self._starts or self.end - self._starts[-1] >= INDEX_EVERY:
                self._starts.append(self.end)
                self._positions.append(position)
            self.end += len(content)
        elif kind is Kind.INPUT:
            self.typed += len(content)
        elif kind is Kind.GAP:
            self.end += int(json.loads(bytes(content))["bytes"])

    def _append(self, kind: Kind, content: bytes | memoryview) -> None:
        data = memoryview(ENTRY.pack(time.time(), kind, len(content)) + content)
        position, end = self._size, self._size + len(data)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            os.ftruncate(self._file, position)
            os.lseek(self._file, position, os.SEEK_SET)
            raise
        self._size = end
        self._note(kind, content, position)

    def output(self, data: bytes | memoryview) -> None:
        """Append what the terminal printed."""
        if self._size + len(data) + ENTRY.size > self.limit_bytes:
            self.full = True
        if not self.full:
            try:
                self._write_gap()
                self._append(Kind.OUTPUT, data)
                return
            except OSError as error:  # a full disk of the host must not stop the terminal: it becomes a gap
                logger.warning("the record %s cannot be written: %s", self.path.name, error)
        self._dropped += len(data)
        self._hash.update(data)
        self.end += len(data)
        if self.full and self._dropped >= GAP_EVERY:
            with contextlib.suppress(OSError):
                self._write_gap()

    def _write_gap(self) -> None:
        if self._dropped:
            end = self.end
            self.end -= self._dropped  # counted again by the entry
            try:
                self.gap(self._dropped, self._hash.hexdigest(), "the record is full")
            except OSError:
                self.end = end
                raise
            self._dropped, self._hash = 0, hashlib.sha256()

    def gap(self, count: int, sha256: str | None, reason: str) -> None:
        """Note that ``count`` bytes of output are not in the record."""
        self._append(Kind.GAP, json.dumps({"bytes": count, "sha256": sha256, "reason": reason}).encode())

    def skip_to(self, seq: int, reason: str) -> None:
        """Count on from ``seq``: what is before it is lost, and that is noted if the file can be written."""
        with contextlib.suppress(OSError):
            self.gap(seq - self.end, None, reason)
        self.end = seq

    def note(self, kind: Kind, **facts: Any) -> None:
        """Append a size, the begin of a shell, or its end; left out if it cannot be written.

        A size also when the record is full: a page may send them without end.
        """
        if kind is Kind.SIZE and self._size >= self.limit_bytes:
            return
        with contextlib.suppress(OSError):
            self._append(kind, json.dumps(facts).encode())

    def input(self, data: bytes) -> None:
        """Append what somebody typed, unless the record is full."""
        if self._size + len(data) + ENTRY.size <= self.limit_bytes:
            with contextlib.suppress(OSError):
                self._append(Kind.INPUT, data)

    def read_typed(self, start: int) -> bytes:
        """What was typed from byte ``start`` of the input on. Reads the whole file."""
        typed, result = 0, bytearray()
        for _, kind, content, _ in entries(self.path):
            if kind is Kind.INPUT:
                result += content[max(0, start - typed) :]
                typed += len(content)
        return bytes(result)

    def read_output(self, start: int, count: int) -> bytes:
        """At most ``count`` bytes of output from sequence number ``start``; empty if they are not kept."""
        found = bisect.bisect_right(self._starts, start) - 1
        if found < 0:
            return b""
        seq, position = self._starts[found], self._positions[found]
        result = bytearray()
        while len(result) < count and position < self._size:
            when_kind_length = os.pread(self._file, ENTRY.size, position)
            _, kind, length = ENTRY.unpack(when_kind_length)
            if kind == Kind.OUTPUT:
                if seq + length > start + len(result):
                    skip = start + len(result) - seq
                    wanted = min(length - skip, count - len(result))
                    result += os.pread(self._file, wanted, position + ENTRY.size + skip)
                seq += length
            elif kind == Kind.GAP:
                missing = int(json.loads(os.pread(self._file, length, position + ENTRY.size))["bytes"])
                if missing and seq + missing > start + len(result):
                    break
                seq += missing
            position += ENTRY.size + length
        return bytes(result)

    def close(self) -> None:
        """Write what is pending and let the file go."""
        if self._file >= 0:
            with contextlib.suppress(OSError):
                self._write_gap()
            os.close(self._file)
            self._file = -1


def asciicast(path: Path, *, title: str = "") -> Iterator[str]:
    """The record as asciicast v2, line by line. Bytes that are not UTF-8 become U+FFFD: that format cannot hold them."""
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    began: float | None = None
    header = {"version": 2, "width": 80, "height": 24, "env": {"TERM": "xterm-256color"}, "title": title}
    for when, kind, content, _ in entries(path):
        if began is None:
            began = when
            if kind in (Kind.SIZE, Kind.SHELL):
                size = json.loads(content)
                header |= {"width": size.get("columns", 80), "height": size.get("rows", 24)}
            yield json.dumps({**header, "timestamp": int(when)}) + "\n"
        moment = round(max(0.0, when - began), 6)
        if kind is Kind.OUTPUT:
            text = decoder.decode(content)
            if text:
                yield json.dumps([moment, "o", text], ensure_ascii=False) + "\n"
        elif kind is Kind.INPUT:
            yield json.dumps([moment, "i", content.decode("utf-8", "replace")], ensure_ascii=False) + "\n"
        elif kind is Kind.SIZE:
            size = json.loads(content)
            yield json.dumps([moment, "r", f"{size['columns']}x{size['rows']}"]) + "\n"
        elif kind is Kind.GAP:
            yield json.dumps([moment, "m", f"{json.loads(content)['bytes']} bytes are not in the record"]) + "\n"
