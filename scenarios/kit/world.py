"""What a scenario's ``world`` and ``grader`` are given and must return.

``world`` defines ``build(task, streams, out) -> BuildResult``, which writes what the workspace shows, and the class
``Production(task, streams)``, what production will bring. ``grader`` defines

- ``replay(production, host) -> Outcome``: the held-out data brought to a delivered system, and what came of it;
- ``oracle(task, streams) -> Outcome``: the same for the decisions of somebody who knows the truth at decision time, within
  what the customer records; through the same judging code, with a ``DeploymentHost`` of its own that writes the outputs.
  Where nobody can say what they would be, ``[admission] no_oracle`` in ``scenario.toml`` says why;
- ``random_delivery(task, streams, rng) -> Outcome``: the same for outputs drawn decision by decision from ``rng``, as a
  delivery that guesses would write them. Admission draws hundreds: what no draw changes is worth keeping between them.

A scenario with ``[trial]`` also has ``world.shadow(task, streams)``, which gives what production is for the trial's own
period (from streams of its own, so that nothing of the held-out data shows), and ``grader.trial(production, host)``: it
brings that to the workspace's system as a replay does, and returns findings, the worst first: pairs of a sentence's id of
``[trial.sentences]`` and what fills its places (a count, a name, or a list of two names), ``("not_mine", {"pages": 21,
"team": ["Ledger", "Intake"]})``. No finding at all is ``quiet``. See ``scenarios.kit.trial``.

A world draws only from the streams of its task, so that the same task gives the same bytes on any machine: use
``Generator`` methods, integers and quantised values; no transcendental array function may reach a byte unrounded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as scenario code sees it: which scenario, which task, and what is true in it."""

    scenario_id: str
    task_id: str  #: "original" or a variant's name; never shown to a player
    facts: Mapping[str, Any]


class Streams:
    """Independent, named random streams of one task: seeded by (salt, scenario, task, stream name)."""

    def __init__(self, scenario_id: str, task_id: str, salt: str = "") -> None:
        self._prefix = f"{salt}\x1f{scenario_id}\x1f{task_id}"

    def rng(self, name: str) -> numpy.random.Generator:
        """A fresh generator: asking twice for the same name gives the same numbers twice."""
        digest = hashlib.sha256(f"{self._prefix}\x1f{name}".encode()).digest()
        return numpy.random.Generator(numpy.random.PCG64(int.from_bytes(digest, "big")))


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What ``world.build`` tells the engines besides the files it wrote.

    ``facts``: values chosen by the world for texts and conversations (``ex_recur`` …), added to the task's facts.
    ``records``: kind → identifiers that exist in the visible data; for a composite kind the identifier is its fields'
    values joined by ``"|"`` in the order of ``scenario.toml``.
    ``record_groups``: group → kind → identifiers, for gates that accept only some of them.
    """

    facts: Mapping[str, Any] = field(default_factory=dict)
    records: Mapping[str, list[str]] = field(default_factory=dict)
    record_groups: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)


#: What a trial found: the id of a sentence, and place → a count, a name, or a list of two names.
Finding = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """How a call of production ended. ``failure`` is None when it succeeded, else a word: exit, signal, cpu_limit, …"""

    exit_status: int
    failure: str | None
    stdout: bytes
    stderr: bytes


class DeploymentHost(Protocol):
    """All that a grader can do to the delivered system's sandbox. Paths are relative to ``system/``.

    Reading never raises for what delivered code did: a missing, oversized or irregular file is ``None``.
    """

    def put(self, path: str, data: bytes) -> None: ...

    def put_drop(self, name: str, files: Mapping[str, bytes]) -> str:
        """Replace the read-only drop directory ``name`` with these files; returns its absolute path inside."""
        ...

    def call(self, argv: list[str]) -> CallOutcome:
        """Run one entry point as production does, within the limits of ``scenario.toml``."""
        ...

    def read(self, path: str, max_bytes: int) -> bytes | None: ...

    def list(self, path: str, max_entries: int) -> list[str]:
        """Names of the regular files of a directory, sorted; an unreadable directory is empty."""
        ...

    def progress(self, done: int, total: int, what: str) -> None:
        """Tell the person who waits where the replay stands. ``what`` is in the customer's words."""
        ...


@dataclass(frozen=True, slots=True)
class IncidentFound:
    """``id`` is an incident of ``scenario.toml``; ``detail`` says what happened; ``count`` how often."""

    id: str
    detail: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """A replay's result. ``breakdown`` explains the KPI in the customer's words; it is a list of sections:

    ``{"kind": "table", "title": str, "columns": [str], "rows": [[…]], "note": str}``,
    ``{"kind": "series", "title": str, "unit": str, "x": [str], "series": [{"name": str, "values": [float]}]}`` or
    ``{"kind": "facts", "title": str, "items": [[label, value]]}``.
    """

    kpi: float
    incidents: tuple[IncidentFound, ...] = ()
    breakdown: tuple[Mapping[str, Any], ...] = ()
    period: str = ""  #: the held-out period in words
