"""Trial runs: the workspace's ``system/`` as it stands, tried in the sandbox of grades on the trial's own period.

What is to be done stands in the runs' logs: a ``trial.requested`` without its ``trial.reported``. A worker takes it for a
lease, copies ``system/``, runs the scenario's trial and logs the report, if the lease and the run still stand. Whatever
fails on our side is tried three times and then reported as void: free, and not counted.
"""

from __future__ import annotations

import logging
import time
import traceback
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from fdegym.catalog.scenarios import get_scenario
from fdegym.delivery.begin import reopen_workspace
from fdegym.delivery.models import TrialRun, TrialState
from fdegym.lib import counts, draining, logs
from fdegym.runs import log
from fdegym.runs.models import Run, RunEvent, RunState
from grading.beating import kept_alive
from grading.measure import try_system
from grading.replay import ReplayVoid, TriedSystem
from grading.services import worker_name
from grading.worlds import ensure_world
from scenarios.kit.render import TextProblem
from scenarios.kit.trial import TrialMisworded, TrialWords
from stakeholders.scripts import script_of
from stakeholders.state import TRIAL_REPORTED, TRIAL_REQUESTED, fold
from stakeholders.trials import WITHDRAWN, TrialOutcome, TrialResult, report_trial
from workspaces.runtime.errors import RuntimeUnusable, SandboxError, SandboxGone, SandboxTooLarge
from workspaces.services import FrozenSystem, copy_system

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
HEARTBEAT_S = 5.0
LONGEST_S = 3600.0  #: more than a trial can take within its own limits
MOST_ATTEMPTS = 3
RETRY_PAUSE = timedelta(seconds=3)  #: times the attempts made
ASK_AGAIN_S = 0.5
OURS = "The trial came to nothing through a failure of ours. It is not counted; ask for another."


class TrialLost(Exception):
    """Another worker has taken the trial over, or it is over: write nothing more."""


# ---- what is to be done ----------------------------------------------------------------------------------------------


def run_trials() -> int:
    """Run every trial that waits or was left behind; how many were taken."""
    taken = 0
    while not draining.has_begun() and (trial := take_trial()) is not None:
        carry_out(trial)
        taken += 1
    return taken


def run_this_trial(run: Run, client_id: str) -> Mapping[str, Any]:
    """Bring one trial that was asked for to its end, here and now; the payload of its report.

    Where another worker runs it this waits for that worker, and takes over should it die.
    """
    while True:
        for event in log.events(run.id, kinds=[TRIAL_REPORTED]):
            if event.payload["client_id"] == client_id:
                report: Mapping[str, Any] = event.payload
                return report
        trial = take_trial(TrialRun.objects.filter(run=run))
        if trial is not None:
            carry_out(trial)
        else:
            time.sleep(ASK_AGAIN_S)


def take_trial(candidates: QuerySet[TrialRun] | None = None) -> TrialRun | None:
    """Take the trial that has waited longest, for a lease; None when there is none."""
    _note_requested()
    now = timezone.now()
    waiting = Q(state=TrialState.WAITING) & (Q(not_before=None) | Q(not_before__lte=now))
    left_behind = Q(state=TrialState.RUNNING, lease_until__lt=now)
    rows = TrialRun.objects.all() if candidates is None else candidates
    with transaction.atomic():
        trial = (
            rows.filter(waiting | left_behind, run__state=RunState.OPEN)
            .select_for_update(skip_locked=True, of=("self",))
            .first()
        )
        if trial is None:
            return None
        trial.state, trial.lease_owner = TrialState.RUNNING, f"{worker_name()[:80]}/{uuid.uuid4().hex}"
        trial.lease_until, trial.not_before = now + LEASE, None
        trial.attempts += 1
        trial.progress = {"step": "taken", "done": 0, "total": 0}
        trial.save()
    return trial


def _note_requested() -> None:
    """A row for each trial that a log asks for and nobody has taken up yet."""
    known = TrialRun.objects.filter(run=OuterRef("run"), requested_seq=OuterRef("seq"))
    asked = RunEvent.objects.filter(kind=TRIAL_REQUESTED, run__state=RunState.OPEN).exclude(Exists(known))
    for event in asked:
        TrialRun.objects.get_or_create(
            run_id=event.run_id, requested_seq=event.seq, defaults={"client_id": event.payload["client_id"]}
        )


def progress_of(run: Run) -> dict[str, Any] | None:
    """How far the run's trial is, ``{"step", "done", "total"}``; None when none is being run."""
    trial = TrialRun.objects.filter(run=run).exclude(state=TrialState.OVER).first()
    if trial is None:
        return None
    progress: dict[str, Any] = {"step": "waiting", "done": 0, "total": 0} | trial.progress
    return progress


# ---- one trial -------------------------------------------------------------------------------------------------------


def carry_out(trial: TrialRun) -> None:
    """Run a trial that was taken and log its report. Raises nothing but interrupts, which leave it to the next worker."""
    begun = time.monotonic()
    with logs.bound(run=trial.run_id):
        try:
            outcome = _carried_out(trial)
        except TrialLost:
            outcome = "taken_over"
            logger.warning("trial %s was taken over or handed in; what this worker found is dropped", trial.pk)
        except Exception:
            outcome = "not_logged"
            logger.exception(
                "the report of trial %s could not be logged; its lease runs out and it is taken again", trial.pk
            )
    counts.TRIALS.add(time.monotonic() - begun, outcome=outcome)


def _carried_out(trial: TrialRun) -> str:
    """How it ended: an outcome of a trial, or ``again``."""
    if trial.attempts > MOST_ATTEMPTS:
        result: TrialResult | None = TrialResult(TrialOutcome.VOID, words=OURS)
    else:
        with _beating(trial):
            result = _attempt(trial)
    if result is None:
        return "again"
    _decide(trial, result)
    return str(result.outcome)


def _attempt(trial: TrialRun) -> TrialResult | None:
    """What came of it; None when it failed through our fault and will be tried again."""
    try:
        return _tried(trial)
    except TrialLost:
        raise
    except SandboxTooLarge as problem:
        return TrialResult(TrialOutcome.DID_NOT_RUN, words=f"It did not run. {problem}")
    except (TrialMisworded, TextProblem) as problem:
        return _void(trial, str(problem))
    except ReplayVoid as void:
        return _again(trial, void.detail) if void.retry else _void(trial, f"{void} {void.detail}")
    except RuntimeUnusable as problem:
        return _again(trial, str(problem), counted=False)
    except SandboxError as problem:
        return _again(trial, str(problem))
    except Exception:
        logger.exception("trial %s failed", trial.pk)
        return _again(trial, traceback.format_exc())


def _void(trial: TrialRun, detail: str) -> TrialResult:
    # the detail stands with the trial, for operators: it may hold what the delivery printed
    logger.error("trial %s of run %s is void", trial.pk, trial.run_id)
    _mine(trial).update(operator_detail=detail[:20_000])
    return TrialResult(TrialOutcome.VOID, words=OURS)


def _again(trial: TrialRun, detail: str, *, counted: bool = True) -> TrialResult | None:
    """Back into the queue while tries are left, else void. One that is not ``counted`` could not even begin."""
    if counted and trial.attempts >= MOST_ATTEMPTS:
        return _void(trial, detail)
    logger.warning("trial %s of run %s, attempt %s came to nothing", trial.pk, trial.run_id, trial.attempts)
    _mine(trial).update(
        state=TrialState.WAITING,
        lease_owner="",
        lease_until=None,
        attempts=trial.attempts - (not counted),
        not_before=timezone.now() + RETRY_PAUSE * trial.attempts,
        operator_detail=detail[:20_000],
    )
    return None


def _tried(trial: TrialRun) -> TrialResult:
    run = Run.objects.get(pk=trial.run_id)
    if run.state != RunState.OPEN:
        raise TrialLost
    task = ensure_world(get_scenario(run.scenario_id), run.task_id)
    terms = task.scenario.config.trial
    if terms is None:
        raise TrialMisworded("the scenario has no trial any more")
    words = TrialWords.of(terms, task.facts)
    tried = try_system(
        task,
        _copied(trial, run),
        on_step=lambda step: _note(trial, step),
        progress=lambda done, total, what: _note(trial, "replay", done, total),
    )
    failures = {
        name: {"calls": row["calls"], "failed": row["failed"]} for name, row in tried.failures.items() if row["failed"]
    }
    broken = _did_not_run(tried)
    return TrialResult(
        TrialOutcome.DID_NOT_RUN if broken else TrialOutcome.REPORTED,
        said=() if broken else words.report(tried.findings),
        words=broken,
        system=trial.copy_sha256,
        calls=tried.calls,
        failures=failures,
    )


def _did_not_run(tried: TriedSystem) -> str:
    """In words, if no call of production came through; "" where one did."""
    called = {name: row for name, row in tried.failures.items() if row["calls"]}
    if not tried.calls or any(row["failed"] < row["calls"] for row in called.values()):
        return ""
    calls = ", ".join(f"{name} failed {row['failed']} of {row['calls']} times" for name, row in called.items())
    return f"It did not run: {calls}. Nobody noticed anything else."


def _copied(trial: TrialRun, run: Run) -> Path:
    """``system/`` as it stood when the trial was first taken."""
    path = Path(trial.copy_path)
    if trial.copy_path and path.is_file():
        return path
    directory = Path(settings.SUBMISSION_DIR)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = directory / f"{run.id}-{uuid.uuid4().hex[:8]}.tar"
    copied = _copy(run, path)
    trial.copy_path, trial.copy_sha256 = str(path), copied.sha256
    if not _mine(trial).update(copy_path=trial.copy_path, copy_sha256=trial.copy_sha256):
        path.unlink(missing_ok=True)
        raise TrialLost
    return path


def _copy(run: Run, target: Path) -> FrozenSystem:
    """Copy ``system/``, also of a workspace that was stopped while nobody worked in it."""
    try:
        return copy_system(str(run.id), target)
    except SandboxGone:
        reopen_workspace(run)
        return copy_system(str(run.id), target)


# ---- the lease -------------------------------------------------------------------------------------------------------


def _mine(trial: TrialRun) -> QuerySet[TrialRun]:
    return TrialRun.objects.filter(pk=trial.pk, state=TrialState.RUNNING, lease_owner=trial.lease_owner)


def _beating(trial: TrialRun) -> AbstractContextManager[None]:
    def beat() -> bool:
        return bool(_mine(trial).update(lease_until=timezone.now() + LEASE))

    return kept_alive(
        beat, f"trial {trial.pk}", hand_back=lambda: hand_back(trial), every_s=HEARTBEAT_S, longest_s=LONGEST_S
    )


def hand_back(trial: TrialRun) -> None:
    """The worker was told to stop: another takes the trial at once, and the attempt is not counted."""
    _mine(trial).update(
        state=TrialState.WAITING, attempts=F("attempts") - 1, lease_owner="", lease_until=None, progress={}
    )


def _note(trial: TrialRun, step: str, done: int = 0, total: int = 0) -> None:
    if not _mine(trial).update(progress={"step": step, "done": done, "total": total}):
        raise TrialLost


def _decide(trial: TrialRun, result: TrialResult) -> None:
    """Log what came of it, in one transaction with the end of the lease. Raises ``TrialLost``."""
    with transaction.atomic():
        # the run first, as everybody who writes its log does: a submission is before this or after it, never between
        run = Run.objects.select_for_update(no_key=True).get(pk=trial.run_id)
        if run.state != RunState.OPEN or not _mine(trial).update(**_OVER):
            raise TrialLost
        _log_report(run, trial.client_id, result)
    _remove_copy(trial)


_OVER: dict[str, Any] = {"state": TrialState.OVER, "lease_owner": "", "lease_until": None, "progress": {}}


def _log_report(run: Run, client_id: str, result: TrialResult) -> None:
    script = script_of(run)
    state = fold(script, log.events(run.id))
    log.append(run.id, TRIAL_REPORTED, report_trial(script, state, client_id, result), expected_seq=state.seq + 1)


def forget_trials(run: Run) -> None:
    """Nobody runs a trial of this run any more. What came of those that were reported stands in its log."""
    rows = TrialRun.objects.filter(run=run)
    copies = [Path(path) for path in rows.exclude(copy_path="").values_list("copy_path", flat=True)]
    rows.delete()

    def remove_copies() -> None:
        for path in copies:
            path.unlink(missing_ok=True)

    transaction.on_commit(remove_copies)


def _remove_copy(trial: TrialRun) -> None:
    if trial.copy_path:
        Path(trial.copy_path).unlink(missing_ok=True)


def withdraw_trials(run: Run) -> None:
    """End the trial that is still being run, free of charge; inside the transaction that hands the run in."""
    Run.objects.select_for_update(no_key=True).get(pk=run.id)
    asked = log.events(run.id, kinds=[TRIAL_REQUESTED, TRIAL_REPORTED])
    if not asked or asked[-1].kind == TRIAL_REPORTED:
        return
    forget_trials(run)
    _log_report(run, asked[-1].payload["client_id"], TrialResult(TrialOutcome.WITHDRAWN, words=WITHDRAWN))
