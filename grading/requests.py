"""What a scenario's process may ask of the worker, as typed values read from frames.

Scenario code is ours, and still the worker believes nothing it says: every field is checked for type and size, every
path for staying beneath ``system/``. Standard library only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grading.frames import Frame
from scenarios.kit.world import Finding, IncidentFound, Outcome

MAX_PATH_BYTES = 1024
MAX_ARGUMENTS = 64
MAX_ARGUMENT_BYTES = 16 * 1024
MAX_DROP_FILES = 10_000
MAX_LISTED = 100_000
MAX_TEXT = 2_000
MAX_TRACEBACK = 20_000
MAX_INCIDENTS = 100
MAX_SECTIONS = 60
MAX_FINDINGS = 100
MAX_PLACES = 10
MAX_NAME = 200


class RequestProblem(ValueError):
    """A frame that asks for nothing we know, or for something out of bounds."""


@dataclass(frozen=True, slots=True)
class Put:
    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class PutDrop:
    name: str
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Call:
    argv: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Read:
    path: str
    max_bytes: int


@dataclass(frozen=True, slots=True)
class ListFiles:
    path: str
    max_entries: int


@dataclass(frozen=True, slots=True)
class Progress:
    done: int
    total: int
    what: str


@dataclass(frozen=True, slots=True)
class Finished:
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Found:
    """The end of a trial: what the grader has to tell, the worst first."""

    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Crashed:
    """The scenario's own code raised: our fault. ``where`` is ``world`` or ``grader``."""

    where: str
    traceback: str


Request = Put | PutDrop | Call | Read | ListFiles | Progress | Finished | Found | Crashed


def _text(head: Mapping[str, Any], key: str, limit: int, *, cut: bool = False) -> str:
    value = head.get(key)
    if not isinstance(value, str) or "\x00" in value:
        raise RequestProblem(f"{key} must be text")
    try:
        size = len(value.encode())
    except UnicodeEncodeError as problem:
        raise RequestProblem(f"{key} is not Unicode text") from problem
    if size > limit and not cut:
        raise RequestProblem(f"{key} is longer than {limit} bytes")
    return value[:limit]


def _whole(head: Mapping[str, Any], key: str, low: int, high: int) -> int:
    value = head.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise RequestProblem(f"{key} must be a whole number from {low} to {high}")
    return value


def relative_path(value: str) -> str:
    """A path beneath ``system/``, as written by scenario code: relative, no empty, ``.`` or ``..`` part."""
    if not value or any(part in ("", ".", "..") for part in value.split("/")):
        raise RequestProblem(f"{value!r} is not a path beneath system/")
    return value


def _path(head: Mapping[str, Any], *, root_allowed: bool = False) -> str:
    value = _text(head, "path", MAX_PATH_BYTES)
    return value if root_allowed and value == "." else relative_path(value)


def _put_drop(frame: Frame) -> PutDrop:
    name = relative_path(_text(frame.head, "name", 255))
    if "/" in name:
        raise RequestProblem("a drop's name is one word")
    listed = frame.head.get("files")
    if not isinstance(listed, list) or len(listed) > MAX_DROP_FILES:
        raise RequestProblem(f"files must be a list of at most {MAX_DROP_FILES}")
    files: dict[str, bytes] = {}
    offset = 0
    for entry in listed:
        if not isinstance(entry, list) or len(entry) != 2:
            raise RequestProblem("an entry of files is a name and a size")
        row = {"path": entry[0], "size": entry[1]}
        path, size = _path(row), _whole(row, "size", 0, len(frame.body) - offset)
        if path in files:
            raise RequestProblem(f"{path} is there twice")
        files[path] = frame.body[offset : offset + size]
        offset += size
    if offset != len(frame.body):
        raise RequestProblem("the files' sizes do not add up")
    return PutDrop(name, files)


def _call(frame: Frame) -> Call:
    argv = frame.head.get("argv")
    if not isinstance(argv, list) or not 1 <= len(argv) <= MAX_ARGUMENTS:
        raise RequestProblem(f"argv must be a list of 1 to {MAX_ARGUMENTS}")
    return Call(tuple(_text({"argument": argument}, "argument", MAX_ARGUMENT_BYTES) for argument in argv))


def _incident(row: object) -> IncidentFound:
    if not isinstance(row, dict):
        raise RequestProblem("an incident is an object")
    return IncidentFound(
        id=_text(row, "id", 100), detail=_text(row, "detail", MAX_TEXT, cut=True), count=_whole(row, "count", 1, 10**9)
    )


def _outcome(frame: Frame) -> Finished:
    head = frame.head
    kpi = head.get("kpi")
    if isinstance(kpi, bool) or not isinstance(kpi, int | float):
        raise RequestProblem(f"kpi must be a finite number, not {kpi!r}")
    try:
        value = float(kpi)
    except OverflowError as problem:
        raise RequestProblem("kpi is too large") from problem
    if not math.isfinite(value):
        raise RequestProblem(f"kpi must be a finite number, not {kpi!r}")
    incidents, breakdown = head.get("incidents"), head.get("breakdown")
    if not isinstance(incidents, list) or len(incidents) > MAX_INCIDENTS:
        raise RequestProblem(f"incidents must be a list of at most {MAX_INCIDENTS}")
    if not isinstance(breakdown, list) or len(breakdown) > MAX_SECTIONS:
        raise RequestProblem(f"breakdown must be a list of at most {MAX_SECTIONS}")
    for section in breakdown:
        if not isinstance(section, dict) or section.get("kind") not in ("table", "series", "facts"):
            raise RequestProblem("a section of the breakdown is a table, a series or facts")
    return Finished(
        Outcome(
            kpi=value,
            incidents=tuple(_incident(row) for row in incidents),
            breakdown=tuple(breakdown),
            period=_text(head, "period", MAX_TEXT, cut=True),
        )
    )


def _findings(frame: Frame) -> Found:
    rows = frame.head.get("findings")
    if not isinstance(rows, list) or len(rows) > MAX_FINDINGS:
        raise RequestProblem(f"findings must be a list of at most {MAX_FINDINGS}")
    return Found(tuple(_finding(row) for row in rows))


def _finding(row: object) -> Finding:
    if not isinstance(row, list) or len(row) != 2 or not isinstance(row[1], dict) or len(row[1]) > MAX_PLACES:
        raise RequestProblem("a finding is the id of a sentence and what fills its places")
    name = _text({"sentence": row[0]}, "sentence", 100)
    values = {_text({"place": place}, "place", 100): _place_value(value) for place, value in row[1].items()}
    return name, values


def _place_value(value: object) -> Any:
    """A count, a name, or a list of names; what fits the sentence is ``scenarios.kit.trial``'s business."""
    if isinstance(value, list) and len(value) <= MAX_PLACES:
        return [_text({"name": name}, "name", MAX_NAME) for name in value]
    if isinstance(value, str):
        return _text({"name": value}, "name", MAX_NAME)
    return _whole({"count": value}, "count", 0, 10**9)


def parse_request(frame: Frame) -> Request:
    """The request of a frame; raises ``RequestProblem`` and nothing else, whatever the frame holds."""
    head = frame.head
    match head.get("op"):
        case "put":
            return Put(_path(head), frame.body)
        case "put_drop":
            return _put_drop(frame)
        case "call":
            return _call(frame)
        case "read":
            return Read(_path(head), _whole(head, "max_bytes", 0, 64 * 1024 * 1024))
        case "list":
            return ListFiles(_path(head, root_allowed=True), _whole(head, "max_entries", 0, MAX_LISTED))
        case "progress":
            whole = 10**9
            done, total = _whole(head, "done", 0, whole), _whole(head, "total", 0, whole)
            return Progress(done, total, _text(head, "what", 200, cut=True))
        case "outcome":
            return _outcome(frame)
        case "found":
            return _findings(frame)
        case "crashed":
            return Crashed(_text(head, "where", 20), _text(head, "traceback", MAX_TRACEBACK, cut=True))
        case other:
            raise RequestProblem(f"nobody knows the request {other!r}")
