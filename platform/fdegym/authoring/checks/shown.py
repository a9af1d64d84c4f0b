"""What a player gets to see of a task, file by file and text by text, whatever it is packed in."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sqlite3
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenarios.kit.format import LEVELS
from scenarios.kit.load import Task

LARGEST_PACKED = 64 << 20  #: bytes of one file in an archive that are looked at
DEEPEST = 3  #: archives in archives
STATES_FACTS = "TASK.md (L0)"  #: its level is the one whose instruction says what is true
SHOWN = ("directory.md", "data", "docs", "system")
_QUOTED = re.compile(r'"([^"\n]{1,120})"|\'([^\'\n]{1,120})\'|`([^`\n]{1,120})`')
_ASSIGNED = re.compile(r"^[ \t]*([\w.\-]+)[ \t]*[=:][ \t]*([\w.\-]+)?[ \t]*$", re.MULTILINE)
_SQLITE = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True)
class Passage:
    """A text somewhere in a workspace. ``alone``: it is a whole value, key or name there, not a stretch of prose."""

    place: str
    text: str
    alone: bool = False


def shown_files(task: Task) -> dict[str, Path]:
    """Place in the workspace → file of the host; the instruction once for each level, as ``TASK.md (L0)`` …"""
    files = {f"TASK.md ({level})": task.visible / "briefs" / level / "TASK.md" for level in LEVELS}
    for name in SHOWN:
        top = task.visible / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file():
                files[path.relative_to(task.visible).as_posix()] = path
    return files


def passages_of_task(task: Task) -> Iterator[Passage]:
    for place, path in shown_files(task).items():
        yield from passages(place, path.read_bytes())


def passages(place: str, data: bytes, depth: int = 0) -> Iterator[Passage]:
    """Everything that can be read in a file: its name, its bytes as text, and what its form sets apart.

    A database's bytes are read too, for they hold what was deleted from its tables.
    """
    for part in dict.fromkeys(_name_parts(place)):
        yield Passage(f"{place}, its name", part, alone=True)
    text = _decoded(data)
    yield Passage(place, text)
    if data.startswith(_SQLITE):
        yield from _of_database(place, data)
    elif depth < DEEPEST and (members := list(_packed(data))):
        for name, content in members:
            yield from passages(f"{place} → {name}", content, depth + 1)
    elif "\x00" not in text:
        yield from _of_text(place, text)


def _name_parts(place: str) -> Iterator[str]:
    for part in place.rpartition(" → ")[2].split("/"):
        yield part
        yield part.partition(".")[0]


def _decoded(data: bytes) -> str:
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig")):
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    return data.decode("utf-8", "replace")


def _of_text(place: str, text: str) -> Iterator[Passage]:
    """Values, keys and quoted words of tables, JSON, settings and code."""
    suffix = place.rpartition(".")[2].lower()
    found: dict[str, str] = {}
    if suffix in ("json", "jsonl", "ndjson"):
        for line, value in _documents(text):
            for item in _strings(value):
                found.setdefault(item, f"{place}{line}")
    if suffix in ("csv", "tsv"):
        with suppress(csv.Error):
            rows = csv.reader(io.StringIO(text, newline=""), delimiter="\t" if suffix == "tsv" else _delimiter(text))
            for number, row in enumerate(rows, start=1):
                for cell in row:
                    found.setdefault(cell.strip(), f"{place}, row {number}")
    else:
        for match in (*_QUOTED.finditer(text), *_ASSIGNED.finditer(text)):
            for item in match.groups():
                if item:
                    found.setdefault(item.strip(), f"{place}, line {text.count(chr(10), 0, match.start()) + 1}")
    for item, where in found.items():
        yield Passage(where, item, alone=True)


def _delimiter(text: str) -> str:
    head = text.partition("\n")[0]
    return max(",;|\t", key=head.count)


def _documents(text: str) -> Iterator[tuple[str, Any]]:
    """A JSON document, or one a line."""
    try:
        yield "", json.loads(text)
    except (ValueError, RecursionError):
        for number, line in enumerate(text.splitlines(), start=1):
            with suppress(ValueError, RecursionError):
                yield f", line {number}", json.loads(line)


def _strings(value: Any) -> Iterator[str]:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            stack += item


def open_database(data: bytes) -> sqlite3.Connection:
    """A database from its bytes, in memory: nothing is written beside the file."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(data)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def tables(connection: sqlite3.Connection) -> list[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
    return [str(name) for (name,) in rows]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _of_database(place: str, data: bytes) -> Iterator[Passage]:
    with closing(open_database(data)) as connection, suppress(sqlite3.DatabaseError):
        for kind, name, sql in connection.execute("SELECT type, name, coalesce(sql, '') FROM sqlite_master"):
            yield Passage(f"{place}, {kind} {name}", str(name), alone=True)
            yield Passage(f"{place}, {kind} {name}", str(sql))
        for table in tables(connection):
            cursor = connection.execute(f"SELECT * FROM {quoted(table)}")  # noqa: S608 - quoted
            for column in cursor.description:
                yield Passage(f"{place}, column of {table}", str(column[0]), alone=True)
            seen: dict[str, None] = {}
            for row in cursor:
                for cell in row:
                    if isinstance(cell, bytes):
                        yield from passages(f"{place}, {table}", cell, DEEPEST)
                    elif isinstance(cell, str):
                        seen.setdefault(cell)
            for cell in seen:
                yield Passage(f"{place}, {table}", cell, alone=True)


def _packed(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Names and bytes in a zip (an office document is one), a tar or a gzip; nothing for any other file."""
    if data.startswith(b"PK"):
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    with archive.open(entry) as file:
                        yield entry.filename, file.read(LARGEST_PACKED)
    elif data.startswith(b"\x1f\x8b"):
        with suppress(OSError, EOFError), gzip.open(io.BytesIO(data)) as file:
            yield "content", file.read(LARGEST_PACKED)
    elif data[257:262] == b"ustar":
        with suppress(tarfile.TarError), tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in tar:
                if member.isfile() and (opened := tar.extractfile(member)) is not None:
                    yield member.name, opened.read(LARGEST_PACKED)
