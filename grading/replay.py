"""The replay: a scenario's process on one side, the delivered system's sandbox on the other, the worker between them.

Pure orchestration against abstract sides; the real ones are ``grading.scenario_process`` and ``grading.deployment``.
Whatever delivered code does ends as a failure of its own call. What is *not* the delivery's doing raises ``ReplayVoid``:
scenario code that raised or died, a host too busy to give a call its time. A lost sandbox raises what its side raises.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from fdegym.lib.errors import FdegymError
from grading.budget import Budget, refused_step
from grading.frames import ChannelClosed, ChannelTimeout, Frame, FrameProblem
from grading.requests import (
    Call,
    Crashed,
    Finished,
    Found,
    ListFiles,
    Progress,
    Put,
    PutDrop,
    Read,
    Request,
    RequestProblem,
    parse_request,
)
from scenarios.kit.format import ReplayLimits
from scenarios.kit.world import Finding, IncidentFound, Outcome
from workspaces.runtime.base import CallLimits, StepResult

PROGRESS_INTERVAL_S = 0.2
OVERLOADED = "The grading machine was overloaded and could not give your system its time."
OBSTRUCTED = "production's own files"  #: under this name the summary counts files that production could not bring


class ReplayVoid(FdegymError):
    """The replay came to no result, through no fault of the delivery. ``retry``: another attempt may go well.

    ``detail`` is for operators (a traceback of scenario code); the text is for the person who waits.
    """

    def __init__(self, reason: str, *, retry: bool, detail: str = "") -> None:
        super().__init__(reason)
        self.retry = retry
        self.detail = detail


class PathObstructed(Exception):
    """Production could not write its file: delivered code has made its place unusable."""


class Deployment(Protocol):
    """The sandbox with the delivered ``system/``. Paths are relative to it. Raises only when the sandbox itself is lost,
    and ``PathObstructed`` from ``put``."""

    def put(self, path: str, data: bytes) -> None: ...

    def put_drop(self, name: str, files: Mapping[str, bytes]) -> str: ...

    def step(self, argv: tuple[str, ...], limits: CallLimits) -> StepResult: ...

    def read(self, path: str, max_bytes: int) -> bytes | None: ...

    def list_files(self, path: str, max_entries: int) -> list[str]: ...


class ScenarioSide(Protocol):
    """The conversation with the scenario's process (``grading.frames.Channel`` is one)."""

    def send(self, head: Mapping[str, Any], body: bytes = b"") -> None: ...

    def receive(self) -> Frame: ...


@dataclass(frozen=True, slots=True)
class ReplayTask:
    """What the scenario's process is told, and the limits of the replay."""

    scenario: str
    task: str
    facts: Mapping[str, Any]
    salt: str
    limits: ReplayLimits
    incidents: frozenset[str]  #: those that ``scenario.toml`` knows


@dataclass(frozen=True, slots=True)
class GradedReplay:
    """A replay's result: the outcome, and what it took. ``failures`` is by entry point, as ``Budget.summary`` says."""

    kpi: float
    incidents: tuple[IncidentFound, ...]
    breakdown: tuple[Mapping[str, Any], ...]
    period: str
    cpu_s: float
    wall_s: float
    calls: int
    failures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TriedSystem:
    """What a trial found, and what it took. ``failures`` as in ``GradedReplay``."""

    findings: tuple[Finding, ...]
    cpu_s: float
    wall_s: float
    calls: int
    failures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


ProgressCallback = Callable[[int, int, str], None]


def no_progress(done: int, total: int, what: str) -> None:
    """For replays that nobody watches."""


class _Relay:
    """Answers the scenario's requests from the deployment, within the budget."""

    def __init__(
        self,
        deployment: Deployment,
        budget: Budget,
        *,
        progress: ProgressCallback,
        host_overloaded: Callable[[], bool],
        clock: Callable[[], float],
    ) -> None:
        self._deployment, self._budget = deployment, budget
        self._progress, self._host_overloaded, self._clock = progress, host_overloaded, clock
        self._told_at = -PROGRESS_INTERVAL_S

    def answer(self, request: Request) -> tuple[dict[str, Any], bytes] | None:
        """Head and body of the answer, or None where none is awaited."""
        match request:
            case Call(argv):
                step = self._call(argv)
                head = {"exit_status": step.exit_status, "failure": step.failure, "stdout": len(step.stdout)}
                return head, step.stdout + step.stderr
            case Read(path, max_bytes):
                data = self._deployment.read(path, max_bytes)
                return {"found": data is not None}, data or b""
            case ListFiles(path, max_entries):
                return {"names": self._deployment.list_files(path, max_entries)}, b""
            case Put(path, data):
                self._put(path, data)
                return {}, b""
            case PutDrop(name, files):
                return {"path": self._deployment.put_drop(name, files)}, b""
            case Progress(done, total, what):
                self._tell(done, total, what)
                return None
            case Finished() | Found() | Crashed():
                raise AssertionError("the end of a replay is not answered")

    def _call(self, argv: tuple[str, ...]) -> StepResult:
        name = self._budget.entry_point(argv)
        reason = self._budget.refusal(name)
        if reason is not None:
            step = refused_step(reason)
        else:
            step = self._deployment.step(argv, self._budget.call_limits())
            if step.failure == "wall_limit" and self._host_overloaded():
                raise ReplayVoid(OVERLOADED, retry=True)
        self._budget.note(name, step)
        return step

    def _put(self, path: str, data: bytes) -> None:
        """Production replaces its file. If delivered code stands in its way, the delivery lives without the file."""
        try:
            self._deployment.put(path, data)
        except PathObstructed as problem:
            self._budget.note_failure(OBSTRUCTED, "obstructed", stderr=f"{path}: {problem}".encode())

    def _tell(self, done: int, total: int, what: str) -> None:
        now = self._clock()
        if done >= total or now - self._told_at >= PROGRESS_INTERVAL_S:
            self._told_at = now
            self._progress(done, total, what)


def _checked(outcome: Outcome, known: frozenset[str]) -> Outcome:
    unknown = sorted({found.id for found in outcome.incidents} - known)
    if unknown:
        raise ReplayVoid(
            "The scenario's grader reported an incident that the scenario does not know: our fault.",
            retry=False,
            detail=f"unknown incidents: {', '.join(unknown)}",
        )
    return outcome


def _converse(side: ScenarioSide, relay: _Relay) -> Finished | Found:
    while True:
        request = parse_request(side.receive())
        if isinstance(request, Finished | Found):
            return request
        if isinstance(request, Crashed):
            raise ReplayVoid(
                f"The scenario's {request.where} failed: our fault, not yours.", retry=False, detail=request.traceback
            )
        answer = relay.answer(request)
        if answer is not None:
            side.send(*answer)


def replay_delivery(
    side: ScenarioSide,
    deployment: Deployment,
    task: ReplayTask,
    *,
    progress: ProgressCallback = no_progress,
    host_overloaded: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
) -> GradedReplay:
    """Run one replay to its end. Raises ``ReplayVoid``, or what ``deployment`` raises when its sandbox is lost.

    ``progress`` hears at most five times a second, and always the end.
    """
    budget = Budget(task.limits)
    relay = _Relay(deployment, budget, progress=progress, host_overloaded=host_overloaded, clock=clock)
    begun = clock()
    with _faults_are_ours():
        side.send(_beginning(task))
        end = _converse(side, relay)
        if not isinstance(end, Finished):
            raise RequestProblem("a replay ends with an outcome")
        outcome = _checked(end.outcome, task.incidents)
    return GradedReplay(
        kpi=outcome.kpi,
        incidents=outcome.incidents,
        breakdown=outcome.breakdown,
        period=outcome.period,
        cpu_s=round(budget.cpu_s, 3),
        wall_s=round(clock() - begun, 3),
        calls=budget.calls,
        failures=budget.summary(),
    )


def try_delivery(
    side: ScenarioSide,
    deployment: Deployment,
    task: ReplayTask,
    *,
    progress: ProgressCallback = no_progress,
    host_overloaded: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.monotonic,
) -> TriedSystem:
    """Run one trial to its end: as ``replay_delivery``, on the trial's own period, and what comes of it is findings."""
    budget = Budget(task.limits)
    relay = _Relay(deployment, budget, progress=progress, host_overloaded=host_overloaded, clock=clock)
    begun = clock()
    with _faults_are_ours():
        side.send({**_beginning(task), "want": "trial"})
        end = _converse(side, relay)
        if not isinstance(end, Found):
            raise RequestProblem("a trial ends with findings")
    return TriedSystem(
        findings=end.findings,
        cpu_s=round(budget.cpu_s, 3),
        wall_s=round(clock() - begun, 3),
        calls=budget.calls,
        failures=budget.summary(),
    )


def _beginning(task: ReplayTask) -> dict[str, Any]:
    return {"scenario": task.scenario, "task": task.task, "facts": task.facts, "salt": task.salt}


@contextmanager
def _faults_are_ours() -> Iterator[None]:
    """What goes wrong between worker and scenario is no fault of a delivery: ``ReplayVoid``."""
    try:
        yield
    except (RequestProblem, FrameProblem) as problem:
        raise ReplayVoid(
            "The scenario's grader asked for something impossible: our fault, not yours.",
            retry=False,
            detail=str(problem),
        ) from problem
    except ChannelClosed as problem:
        raise ReplayVoid("The process that runs the scenario died.", retry=True, detail=str(problem)) from problem
    except ChannelTimeout as problem:
        raise ReplayVoid(
            "The process that runs the scenario did not go on.", retry=True, detail=str(problem)
        ) from problem
