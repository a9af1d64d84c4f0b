"""What is in a state for longer than it should be: since when, why, and what to do about it.

Every rule is a bounded question, and none writes anything. A healthy site has none of these for longer than its sweeps
take: most need nobody, because workers look again every ten seconds and every minute.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Max
from django.utils import timezone

from fdegym.delivery.models import TrialRun, TrialState
from fdegym.delivery.tasks import GRACE
from fdegym.lib.errors import FdegymError
from fdegym.operations.readiness import unbuilt_worlds
from fdegym.presence.models import Process
from fdegym.runs.models import Run, RunEvent, RunState
from grading.attempt import LONGEST_S
from grading.models import Submission, SubmissionState
from workspaces.services import keeper_figures, keeper_workspaces

MOST = 50  #: of each kind that are looked at; who has more has one cause for all
PREPARING_FOR = timedelta(minutes=5)
WAITING_FOR = timedelta(minutes=30)  #: in the queue of grades
TRIAL_WAITING_FOR = timedelta(minutes=10)
LEASE_OUT_FOR = timedelta(minutes=1)  #: workers look every ten seconds
DEADLINE_PAST_FOR = timedelta(minutes=5)
NOT_CLEARED_FOR = GRACE + timedelta(minutes=15)
IDLE_TOO_LONG = timedelta(minutes=5)  #: beyond the keeper's own limit


@dataclass(frozen=True, slots=True)
class Stuck:
    """One thing. ``act`` names what helps (``fdegym.operations.acts``), "" where only a person at the host can."""

    what: str
    since: datetime | None
    reason: str
    act: str = ""
    subject: str = ""
    run: Run | None = None


def stuck_things() -> list[Stuck]:
    """All of them: what may be the cause of others before these, the oldest first within each kind."""
    rules: tuple[Callable[[], list[Stuck]], ...] = (
        *(silent_processes, missing_worlds, unprepared_runs, past_deadlines, stuck_workspaces),
        *(abandoned_gradings, endless_gradings, waiting_submissions, stuck_trials, void_submissions),
    )
    return [thing for rule in rules for thing in rule()]


def _submissions(**conditions: Any) -> list[Submission]:
    return list(
        Submission.objects.filter(**conditions).select_related("run", "run__user").order_by("created_at")[:MOST]
    )


def void_submissions() -> list[Stuck]:
    return [
        Stuck("A submission is void", row.ended_at, _void_reason(row), "grade-again", str(row.pk), row.run)
        for row in _submissions(state=SubmissionState.VOID)
    ]


def _void_reason(row: Submission) -> str:
    return f"{row.void_reason} {_last_line(row.operator_detail)}".strip()


def _last_line(detail: str) -> str:
    return next((line.strip()[:200] for line in reversed(detail.splitlines()) if line.strip()), "")


def abandoned_gradings() -> list[Stuck]:
    rows = _submissions(state=SubmissionState.GRADING, lease_until__lt=timezone.now() - LEASE_OUT_FOR)
    return [
        Stuck(
            "A grading was left behind",
            row.heartbeat_at,
            f"Its worker ({_worker(row.lease_owner)}) stopped saying that it works on it, and no other has taken it up.",
            "give-back",
            str(row.pk),
            row.run,
        )
        for row in rows
    ]


def endless_gradings() -> list[Stuck]:
    """The lease is renewed, and it is taking longer than two anchors and a delivery may."""
    now = timezone.now()
    rows = _submissions(
        state=SubmissionState.GRADING,
        lease_until__gte=now - LEASE_OUT_FOR,
        created_at__lt=now - timedelta(seconds=LONGEST_S),
    )
    return [
        Stuck(
            "A grading does not end",
            row.created_at,
            f"{_worker(row.lease_owner)} says that it works on it, at the step “{row.progress.get('step', '?')}”.",
            "give-back",
            str(row.pk),
            row.run,
        )
        for row in rows
    ]


def waiting_submissions() -> list[Stuck]:
    rows = _submissions(state=SubmissionState.QUEUED, created_at__lt=timezone.now() - WAITING_FOR)
    return [
        Stuck(
            "A submission waits",
            row.created_at,
            _why_it_waits(row),
            "wake",
            str(row.pk),
            row.run,
        )
        for row in rows
    ]


def _why_it_waits(row: Submission) -> str:
    if row.operator_detail and not row.attempts:
        return f"No host could begin it. {_last_line(row.operator_detail)}"
    return f"{_so_far(row.attempts)} Are there workers enough?"


def stuck_trials() -> list[Stuck]:
    now = timezone.now()
    rows = TrialRun.objects.exclude(state=TrialState.OVER).select_related("run", "run__user")
    found = []
    for row in rows.order_by("created_at")[:MOST]:
        left = row.state == TrialState.RUNNING and row.lease_until is not None and row.lease_until < now - LEASE_OUT_FOR
        waits = row.state == TrialState.WAITING and row.created_at < now - TRIAL_WAITING_FOR
        if left:
            reason = f"Its worker ({_worker(row.lease_owner)}) stopped saying that it works on it."
        elif waits:
            reason = _so_far(row.attempts)
        else:
            continue
        found.append(Stuck("A trial does not end", row.created_at, reason, "try-again", str(row.pk), row.run))
    return found


def _so_far(attempts: int) -> str:
    if not attempts:
        return "No worker has taken it up."
    return (
        f"It was begun {'once' if attempts == 1 else f'{attempts} times'}, came to nothing and is in the queue again."
    )


def _worker(lease_owner: str) -> str:
    return lease_owner.rsplit("/", 1)[0] or "unknown"


def unprepared_runs() -> list[Stuck]:
    late = Run.objects.filter(state=RunState.PREPARING, begun_at__lt=timezone.now() - PREPARING_FOR)
    rows = list(late.select_related("user").order_by("begun_at")[:MOST])
    failed = RunEvent.objects.filter(run__in=rows, kind="run.preparing_failed").order_by("seq")
    reasons = {event.run_id: str(event.payload.get("reason", "")) for event in failed}
    words = "No failure is on record: no worker has taken it up, or the host has no room for its workspace."
    return [
        Stuck("A run is not prepared", run.begun_at, reasons.get(run.pk) or words, "prepare-again", str(run.pk), run)
        for run in rows
    ]


def past_deadlines() -> list[Stuck]:
    rows = (
        Run.objects.filter(state=RunState.OPEN, events__kind="contact.deadline")
        .annotate(passed_at=Max("events__at"))
        .filter(passed_at__lt=timezone.now() - DEADLINE_PAST_FOR)
        .select_related("user")
        .order_by("begun_at")[:MOST]
    )
    reason = "The customer's deadline has passed and the run could not be handed in; the worker's log says why."
    return [Stuck("A run is past its deadline", run.passed_at, reason, "submit", str(run.pk), run) for run in rows]


def stuck_workspaces() -> list[Stuck]:
    """Of this host: those that no run owns any more, and those that nobody uses and that were not stopped."""
    try:
        found, idle_stop_s = keeper_workspaces(), float(keeper_figures()["idle_stop_s"])
    except FdegymError:
        return []  # that the keeper does not answer is said where readiness is
    runs = {str(run.pk): run for run in Run.objects.filter(pk__in=_uuids(found)).select_related("user")}
    stuck = []
    for row in found:
        opened_at = datetime.fromtimestamp(row["opened_at"], UTC)
        run = runs.get(row["run"])
        if why := orphan_reason(run, opened_at):
            stuck.append(Stuck("A workspace has no run", opened_at, why, "destroy", row["run"], run))
        elif row["state"] == "running" and (row["idle_s"] or 0) > idle_stop_s + IDLE_TOO_LONG.total_seconds():
            since = timezone.now() - timedelta(seconds=row["idle_s"])
            reason = "Nobody has used it for longer than the keeper lets one run; the keeper could not stop it."
            stuck.append(Stuck("A workspace is not used", since, reason, "stop", row["run"], run))
    return stuck


def _uuids(found: list[dict[str, Any]]) -> list[str]:
    return [row["run"] for row in found if len(row["run"]) == 36]


def orphan_reason(run: Run | None, opened_at: datetime) -> str:
    """Why nobody will miss the workspace, or "": it belongs to a live run, or will be cleared away by itself."""
    now = timezone.now()
    if run is None:
        return "No run of this site has this id." if opened_at < now - timedelta(minutes=15) else ""
    if run.is_live:
        return ""
    over = max(moment for moment in (run.submitted_at, run.ended_at, run.begun_at) if moment is not None)
    if over > now - NOT_CLEARED_FOR:
        return ""
    return "The run is over and its workspace was not cleared away; the worker's log says why."


def missing_worlds() -> list[Stuck]:
    tasks: dict[str, list[str]] = {}
    for scenario, task in unbuilt_worlds():
        tasks.setdefault(scenario, []).append(task)
    return [
        Stuck(
            f"Worlds of {scenario} are not built",
            None,
            f"Whoever draws one of these tasks waits until its world is built: {', '.join(missing)}.",
            "build-worlds",
            scenario,
        )
        for scenario, missing in tasks.items()
    ]


def silent_processes() -> list[Stuck]:
    rows = [row for row in Process.objects.exclude(kind="past").defer("counts") if row.is_silent]
    return [
        Stuck(
            f"A {row.kind} process is silent",
            row.seen_at,
            f"Process {row.pid} on {row.host} was killed, hangs, or cannot reach the database. Its service starts it again; "
            "if it does not, restart it there.",
        )
        for row in rows
    ]
