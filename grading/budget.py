"""How much a replay may spend, and on what it gave up: the rules stated to the player in ``system/README.md``.

Pure. A call's limits come from ``scenario.toml``; once the replay's CPU seconds are spent, or after five time-outs of
one entry point in a row, what remains fails at once. So does what remains once calls have *waited* four times as long
as they may compute: a delivery that sleeps must not hold a worker for days.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scenarios.kit.format import EntryPoint, ReplayLimits
from workspaces.runtime.base import CallLimits, StepResult

TIMEOUTS_IN_A_ROW = 5
WALL_FACTOR = 4
STDERR_TAIL_BYTES = 2_000
TIMEOUTS = frozenset({"cpu_limit", "wall_limit"})
OTHER_COMMANDS = "other commands"


@dataclass(slots=True)
class EntryPointRecord:
    """How the calls of one entry point went. ``first`` describes the first failure."""

    calls: int = 0
    cpu_s: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)
    first: Mapping[str, Any] | None = None
    timeouts_in_a_row: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "cpu_s": round(self.cpu_s, 3),
            "failed": sum(self.failures.values()),
            "failures": dict(sorted(self.failures.items())),
            "first": None if self.first is None else dict(self.first),
        }


class Budget:
    """The account of one replay."""

    def __init__(self, limits: ReplayLimits) -> None:
        self._limits = limits
        # the longest command first: "npt.ask --chat" before "npt.ask"
        self._entry_points: list[EntryPoint] = sorted(limits.entry_points, key=lambda entry: -len(entry.argv))
        self.records: dict[str, EntryPointRecord] = {}
        self.calls = 0
        self.cpu_s = 0.0
        self.wall_s = 0.0

    def entry_point(self, argv: Sequence[str]) -> str:
        """The name of the entry point that this command calls."""
        for entry in self._entry_points:
            if list(argv[: len(entry.argv)]) == entry.argv:
                return entry.name
        return OTHER_COMMANDS

    def refusal(self, name: str) -> str | None:
        """Why the next call of this entry point fails without being run, or None."""
        if self.cpu_s >= self._limits.replay_cpu_s:
            return "replay_cpu_spent"
        if self.wall_s >= WALL_FACTOR * self._limits.replay_cpu_s:
            return "replay_time_spent"
        record = self.records.get(name)
        if record and record.timeouts_in_a_row >= TIMEOUTS_IN_A_ROW:
            return "given_up"
        return None

    def call_limits(self) -> CallLimits:
        """Limits of the next call: those of a call, and never more than the replay has left."""
        cpu_s = min(self._limits.call_cpu_s, self._limits.replay_cpu_s - self.cpu_s)
        return CallLimits(
            cpu_s=cpu_s, memory_mb=self._limits.call_memory_mb, wall_s=WALL_FACTOR * self._limits.call_cpu_s
        )

    def note(self, name: str, step: StepResult) -> None:
        """Enter a call that was run, or refused (then with no time)."""
        record = self.records.setdefault(name, EntryPointRecord())
        self.calls += 1
        record.calls += 1
        self.cpu_s += step.cpu_s
        record.cpu_s += step.cpu_s
        self.wall_s += step.wall_s
        if step.failure in TIMEOUTS:
            record.timeouts_in_a_row += 1
        elif step.failure != "given_up":
            record.timeouts_in_a_row = 0
        if step.failure is not None:
            self.note_failure(name, step.failure, exit_status=step.exit_status, stderr=step.stderr)

    def note_failure(self, name: str, failure: str, *, exit_status: int | None = None, stderr: bytes = b"") -> None:
        record = self.records.setdefault(name, EntryPointRecord())
        record.failures[failure] += 1
        if record.first is None:
            record.first = {
                "call": self.calls,
                "failure": failure,
                "exit_status": exit_status,
                "stderr": stderr[-STDERR_TAIL_BYTES:].decode("utf-8", "replace").replace("\x00", "\ufffd"),
            }

    def summary(self) -> dict[str, dict[str, Any]]:
        return {name: record.as_json() for name, record in sorted(self.records.items())}


def refused_step(reason: str) -> StepResult:
    """The result of a call that is not run any more."""
    return StepResult(exit_status=-1, failure=reason, cpu_s=0.0, wall_s=0.0, max_rss_mb=0.0, stdout=b"", stderr=b"")
