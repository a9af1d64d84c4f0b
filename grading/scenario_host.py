"""The process in which a scenario's ``world`` and ``grader`` run: ``python -m grading.scenario_host``, in a sandbox.

It is told a task by its first frame and what is wanted of it: a replay, for which it makes the scenario's ``Production``
and runs ``grader.replay(production, host)``; a trial, for which it takes ``world.shadow`` and runs ``grader.trial``; or what
the scenario says without any delivery, its oracle or random ones.
Whatever the grader does to the delivered system goes to the worker as a frame. Starts without Django, database, network
or settings.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from typing import Any

import numpy

from grading.frames import Channel, ChannelClosed, Frame
from scenarios.kit.world import CallOutcome, Outcome, Streams, TaskView

LONGEST_TEXT = 2_000  #: characters of one text of an outcome


class HostRefusal(ValueError):
    """The worker refused a request of the scenario's code: a path outside ``system/``, a size out of bounds …"""


class RemoteHost:
    """``scenarios.kit.world.DeploymentHost`` over a channel."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def _ask(self, head: Mapping[str, Any], body: bytes = b"") -> Frame:
        self._channel.send(head, body)
        answer = self._channel.receive()
        if "refused" in answer.head:
            raise HostRefusal(answer.head["refused"])
        return answer

    def put(self, path: str, data: bytes) -> None:
        self._ask({"op": "put", "path": path}, bytes(data))

    def put_drop(self, name: str, files: Mapping[str, bytes]) -> str:
        sizes = [[path, len(data)] for path, data in files.items()]
        answer = self._ask({"op": "put_drop", "name": name, "files": sizes}, b"".join(files.values()))
        return str(answer.head["path"])

    def call(self, argv: list[str]) -> CallOutcome:
        answer = self._ask({"op": "call", "argv": list(argv)})
        cut = answer.head["stdout"]
        return CallOutcome(
            exit_status=answer.head["exit_status"],
            failure=answer.head["failure"],
            stdout=answer.body[:cut],
            stderr=answer.body[cut:],
        )

    def read(self, path: str, max_bytes: int) -> bytes | None:
        answer = self._ask({"op": "read", "path": path, "max_bytes": int(max_bytes)})
        return answer.body if answer.head["found"] else None

    def list(self, path: str, max_entries: int) -> list[str]:
        return list(self._ask({"op": "list", "path": path, "max_entries": int(max_entries)}).head["names"])

    def progress(self, done: int, total: int, what: str) -> None:
        self._channel.send({"op": "progress", "done": int(done), "total": int(total), "what": _storable(what)})


def _storable(text: str) -> str:
    """Text that every database and page takes, whatever a delivery wrote: no NUL, no half characters, no endless line."""
    clean = text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
    return clean if len(clean) <= LONGEST_TEXT else clean[: LONGEST_TEXT - 1] + "…"


def plain(value: Any) -> Any:
    """A grader's value as JSON has it: numpy's numbers and arrays become Python's, tuples lists, dates text.

    A number that is not finite becomes None. Texts may quote what a delivery wrote, so they are made storable.
    """
    if isinstance(value, Mapping):
        return {_storable(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value) if isinstance(value, set | frozenset) else value
        return [plain(item) for item in items]
    if isinstance(value, numpy.ndarray | numpy.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int | bool) or value is None:
        return value
    return _storable(str(value))


def outcome_head(outcome: Outcome) -> dict[str, Any]:
    """An outcome as the head of its frame."""
    return {
        "op": "outcome",
        "kpi": plain(outcome.kpi),
        "incidents": [
            {"id": found.id, "detail": plain(found.detail), "count": plain(found.count)} for found in outcome.incidents
        ],
        "breakdown": plain(outcome.breakdown),
        "period": plain(outcome.period),
    }


def _outcomes(begin: Mapping[str, Any], grader: Any, task: TaskView, streams: Streams) -> Iterator[Outcome]:
    """What the scenario says without any delivery: its oracle, or as many random ones as are wanted."""
    if begin["want"] == "oracle":
        yield grader.oracle(task, streams)
    else:
        for number in range(begin["count"]):
            yield grader.random_delivery(task, streams, streams.rng(f"random delivery {number}"))


def serve(channel: Channel) -> None:
    """Hear the task and what is wanted of it, do it, say how it ended."""
    begin = channel.receive().head
    where = "world"
    try:
        package = f"scenarios.{begin['scenario']}"
        task = TaskView(begin["scenario"], begin["task"], begin["facts"])
        streams = Streams(begin["scenario"], begin["task"], begin["salt"])
        if begin.get("want") in ("oracle", "random"):
            where = "grader"
            for outcome in _outcomes(begin, importlib.import_module(f"{package}.grader"), task, streams):
                channel.send(outcome_head(outcome))
            return
        world = importlib.import_module(f"{package}.world")
        if begin.get("want") == "trial":
            production = world.shadow(task, streams)
            where = "grader"
            found = importlib.import_module(f"{package}.grader").trial(production, RemoteHost(channel))
            channel.send({"op": "found", "findings": [[str(name), plain(values)] for name, values in found]})
            return
        production = world.Production(task, streams)
        where = "grader"
        outcome = importlib.import_module(f"{package}.grader").replay(production, RemoteHost(channel))
        channel.send(outcome_head(outcome))
    except ChannelClosed:
        raise
    except Exception:  # noqa: BLE001 - whatever scenario code raises is reported as our fault, in full
        text = "".join(traceback.format_exc())[-16_000:]
        channel.send({"op": "crashed", "where": where, "traceback": text})


def main() -> int:
    """Speak on the inherited stdin and stdout, and keep both away from scenario code: its prints go to stderr."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    try:
        serve(Channel(read_fd, write_fd, timeout_s=None))
    except ChannelClosed:
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
