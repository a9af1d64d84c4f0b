"""Variants cannot be told apart by their shape: names, dates, numbers of rows, sizes, and who is there.

What is the author's own file is the same everywhere, byte for byte. What is rendered or drawn has the original's size
within ``TOLERANCE``. A table has as many rows as the original's; where the original's own number moves with the seed, the
length is drawn, not fixed, and has the tolerance too. Files that differ in their digits alone (a day's report each) are
one series: they are compared together. The instruction of level L0 states the facts and is as long as they are.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from django.conf import settings

from fdegym.authoring.admission.findings import Check, Finding
from fdegym.authoring.checks.shown import STATES_FACTS, open_database, quoted, shown_files, tables
from grading.trusted import build_in_sandbox
from grading.worlds import ensure_world, grading_runtime
from scenarios.kit.cache import ensure_task
from scenarios.kit.load import ORIGINAL, Scenario, Task
from stakeholders.scripts import compiled_script
from stakeholders.visible import shown_directory

TOLERANCE = 0.02
OTHER_SEED = "admission: another seed"
MOST_TOLD = 8
_DIGITS = re.compile(r"\d+")
_RENDERED = ("TASK.md", "directory.md", "docs/")


@dataclass(frozen=True, slots=True)
class Shape:
    """What can be measured of a workspace without reading it. ``rows``: by file and table, of a series together."""

    times: Mapping[str, int]  #: every file → modification time, whole seconds
    sizes: Mapping[str, int]  #: every file or series → bytes
    rows: Mapping[str, int]
    own: Mapping[str, bytes]  #: files that are the scenario's own, unrendered → content


def shape_of(task: Task) -> Shape:
    files = shown_files(task)
    series: dict[str, list[str]] = {}
    for place in files:
        series.setdefault(_DIGITS.sub("#", place), []).append(place)
    sizes: dict[str, int] = {}
    rows: dict[str, int] = {}
    for pattern, places in series.items():
        # A handful of numbered documents is no series: each has a size of its own.
        together = pattern if len(places) > 9 else None
        for place in places:
            name = together or place
            sizes[name] = sizes.get(name, 0) + files[place].stat().st_size
            for table, count in rows_in(place, files[place].read_bytes()):
                key = f"{name}{table}"
                rows[key] = rows.get(key, 0) + count
    own = {place: path.read_bytes() for place, path in files.items() if _is_own(task, place)}
    return Shape({place: int(path.stat().st_mtime) for place, path in files.items()}, sizes, rows, own)


def _is_own(task: Task, place: str) -> bool:
    """Whether it lies in the scenario just so; the bytes are not compared here: a world may have changed them."""
    source = task.scenario.folder / place
    return source.is_file() and not place.startswith(_RENDERED)


def rows_in(place: str, data: bytes) -> Iterator[tuple[str, int]]:
    """(table, number of rows) of a file: rows of a CSV, of a database's tables, entries of a JSON list, lines of JSONL."""
    suffix = place.rpartition(".")[2].lower()
    if data.startswith(b"SQLite format 3\x00"):
        with closing(open_database(data)) as connection, suppress(sqlite3.DatabaseError):
            for table in tables(connection):
                (count,) = connection.execute(f"SELECT count(*) FROM {quoted(table)}").fetchone()  # noqa: S608 - quoted
                yield f", {table}", int(count)
    elif suffix in ("csv", "tsv"):
        with suppress(csv.Error):
            yield "", sum(1 for _ in csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline="")))
    elif suffix in ("jsonl", "ndjson"):
        yield "", data.count(b"\n")
    elif suffix == "json":
        with suppress(ValueError, RecursionError):
            value = json.loads(data)
            if isinstance(value, list):
                yield "", len(value)


def differences(original: Shape, other: Shape, drawn: frozenset[str] = frozenset()) -> list[str]:
    """How a variant can be told from the original, in words. ``drawn``: tables whose length moves with the seed."""
    found = [
        f"{place} is there and not on the original" for place in sorted(other.times.keys() - original.times.keys())
    ]
    found += [f"{place} is missing" for place in sorted(original.times.keys() - other.times.keys())]
    found += [
        f"{place} is dated {other.times[place] - when:+d} s from the original's"
        for place, when in original.times.items()
        if other.times.get(place, when) != when
    ]
    found += [
        f"{place} is the scenario's own file and yet reads differently"
        for place, content in original.own.items()
        if other.own.get(place, content) != content
    ]
    for table, count in original.rows.items():
        mine = other.rows.get(table, count)
        if mine != count and not (table in drawn and abs(mine - count) <= TOLERANCE * count):
            bound = f", more than {TOLERANCE:.0%} off" if table in drawn else ""
            found.append(f"{table} has {mine} rows instead of {count}{bound}")
    for place, size in original.sizes.items():
        mine = other.sizes.get(place, size) if place != STATES_FACTS else size
        if abs(mine - size) > TOLERANCE * size:
            found.append(f"{place} has {mine} bytes, {(mine - size) / max(size, 1):+.1%} of the original's {size}")
    return found


def _original_of_another_seed(scenario: Scenario) -> Shape:
    with tempfile.TemporaryDirectory(dir=settings.VAR, prefix="seed-") as scratch:
        builder = partial(build_in_sandbox, grading_runtime())
        return shape_of(ensure_task(scenario, ORIGINAL, salt=OTHER_SEED, cache=Path(scratch), builder=builder))


def _people(task: Task) -> object:
    return shown_directory(compiled_script(task.scenario.id, task.task_id, task.scenario.release))


def _largest(original: Shape, other: Shape) -> float:
    """The largest relative difference of a size that is not zero, in per cent."""
    compared = {place: size for place, size in original.sizes.items() if size and place != STATES_FACTS}
    shares = (abs(other.sizes.get(place, size) - size) / size for place, size in compared.items())
    return round(100 * max(shares, default=0.0), 2)


def compare_shapes(scenario: Scenario, tasks: Sequence[str]) -> Iterator[Finding]:
    first = ensure_world(scenario, ORIGINAL)
    original, moved = shape_of(first), _original_of_another_seed(scenario)
    drawn = frozenset(table for table, count in original.rows.items() if moved.rows.get(table) != count)
    for task_id in tasks:
        task = ensure_world(scenario, task_id)
        other = shape_of(task)
        found = differences(original, other, drawn)
        if (first.visible / "directory.md").read_bytes() != (task.visible / "directory.md").read_bytes():
            found.append("directory.md reads differently")
        if _people(task) != _people(first):
            found.append("`ask --who` shows other people or other words")
        figures = {"files": len(other.times), "largest_difference_percent": _largest(original, other)}
        yield Finding("shape", task_id, not found, figures, _told(found) if found else "")


def _told(found: Sequence[str]) -> str:
    more = f"; and {len(found) - MOST_TOLD} more" if len(found) > MOST_TOLD else ""
    return f"{'; '.join(found[:MOST_TOLD])}{more}. Show an extract of fixed length, or keep the texts of both equally long."


SHAPE = Check(
    "shape",
    "variants cannot be told apart by names, dates, rows and sizes",
    compare_shapes,
    each_task=False,
    seconds=30,
)
