"""The queue is the table of submissions: who may grade which, until when, how often.

A worker *takes* a submission for a lease of 30 s and beats every 5 s. Everything a worker writes names the lease it
holds; when another worker has taken over, nothing is written and ``LeaseLost`` is raised. So a message delivered twice,
a worker killed at any moment, and a worker that was only frozen for a while all end in one grade.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from typing import Any, Protocol

from django.db import transaction
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from fdegym.lib import counts
from fdegym.runs import notify
from fdegym.runs.models import Run, RunState
from fdegym.runs.services import transition
from grading.beating import kept_alive
from grading.carried import forget_carried
from grading.models import Submission, SubmissionCause, SubmissionState

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
HEARTBEAT_S = 5.0
MOST_ATTEMPTS = 3
RETRY_PAUSE = timedelta(seconds=5)  #: times the attempts made


class LeaseLost(Exception):
    """Another worker has taken the submission over, or it is already decided: write nothing more."""


class Frozen(Protocol):
    """What freezing a system gives (``workspaces.services.freeze_system``)."""

    @property
    def path(self) -> Any: ...
    @property
    def sha256(self) -> str: ...
    @property
    def files(self) -> int: ...
    @property
    def bytes(self) -> int: ...


def queue_submission(run: Run, frozen: Frozen, cause: str = SubmissionCause.PERSON) -> Submission:
    """Record the submission of a run. A run has one: asked again, the first is given back and ``frozen`` is ignored."""
    submission, _ = Submission.objects.get_or_create(
        run=run,
        defaults={
            "sealed_path": str(frozen.path),
            "sha256": frozen.sha256,
            "files": frozen.files,
            "bytes": frozen.bytes,
            "cause": SubmissionCause(cause),
            "progress": {"step": "queued", "done": 0, "total": 0, "what": "in the queue"},
        },
    )
    return submission


def _takeable(now: datetime) -> Q:
    """Queued and not told to wait, or left behind by a worker that stopped beating."""
    return Q(state=SubmissionState.QUEUED) & (Q(not_before=None) | Q(not_before__lte=now)) | Q(
        state=SubmissionState.GRADING, lease_until__lt=now
    )


def _take(candidates: QuerySet[Submission], owner: str) -> Submission | None:
    """Take the first candidate, or void those that have used up their attempts on the way."""
    while True:
        now = timezone.now()
        with transaction.atomic():
            # PostgreSQL: two workers lock two different rows. SQLite: transactions that write are one after another.
            found = candidates.filter(_takeable(now)).select_for_update(skip_locked=True, of=("self",)).first()
            if found is None:
                return None
            if found.attempts >= MOST_ATTEMPTS:
                reason = "Grading was interrupted three times; the operator has been told."
                _decide_void(found, reason, found.operator_detail or "the worker died each time")
                counts.VOIDS.add(reason="interrupted")
                continue
            found.state = SubmissionState.GRADING
            found.lease_owner = owner
            found.heartbeat_at, found.lease_until, found.not_before = now, now + LEASE, None
            found.attempts += 1
            found.progress = {"step": "taken", "done": 0, "total": 0, "what": "a grader has taken it"}
            found.save()
        notify.hint(found.run_id)
        return found


def take_submission(owner: str) -> Submission | None:
    """Take the next submission that waits or was left behind, for a lease of 30 s; None when there is none.

    ``owner`` names the worker; it is made unique for this lease (``submission.lease_owner``).
    """
    return _take(_in_turn(), _lease_name(owner))


def _in_turn() -> QuerySet[Any]:
    """In the order of grading: everybody's first before anybody's second, the longest waiting first.

    ``own_before``: how many of the same person's were ahead when it was handed in. It never changes, so that nobody who
    hands in run after run delays others by more than one grade.
    """
    ahead = Q(created_at__lt=OuterRef("created_at")) | Q(created_at=OuterRef("created_at"), pk__lt=OuterRef("pk"))
    unfinished = Q(ended_at=None) | Q(ended_at__gt=OuterRef("created_at"))
    own = Submission.objects.filter(ahead, unfinished, run__user=OuterRef("run__user")).order_by()
    counted = own.values("run__user").annotate(number=Count("pk")).values("number")
    return Submission.objects.annotate(own_before=Coalesce(Subquery(counted), 0)).order_by(
        "own_before", "created_at", "id"
    )


def take_this_submission(submission: Submission, owner: str) -> Submission | None:
    """Take one submission by name; None when it is decided, waits for its next try, or somebody else grades it."""
    return _take(Submission.objects.filter(pk=submission.pk), _lease_name(owner))


def _lease_name(owner: str) -> str:
    return f"{owner[:80]}/{uuid.uuid4().hex}"


def _mine(submission: Submission) -> QuerySet[Submission]:
    return Submission.objects.filter(
        pk=submission.pk, state=SubmissionState.GRADING, lease_owner=submission.lease_owner
    )


def heartbeat(submission: Submission) -> None:
    """Renew the lease; raises ``LeaseLost``."""
    now = timezone.now()
    if not _mine(submission).update(heartbeat_at=now, lease_until=now + LEASE):
        raise LeaseLost(f"submission {submission.pk} is no longer ours")


def note_progress(submission: Submission, step: str, done: int = 0, total: int = 0, what: str = "") -> None:
    """Tell the person who waits; raises ``LeaseLost``."""
    row = {"step": step, "done": done, "total": total, "what": what[:200]}
    if not _mine(submission).update(progress=row):
        raise LeaseLost(f"submission {submission.pk} is no longer ours")
    notify.hint(submission.run_id)


def beating(submission: Submission, *, longest_s: float) -> AbstractContextManager[None]:
    """Beat every 5 s while the block runs; ends early when the lease is lost, and after ``longest_s``."""

    def beat() -> bool:
        try:
            heartbeat(submission)
        except LeaseLost:
            return False
        return True

    return kept_alive(
        beat,
        f"submission {submission.pk}",
        hand_back=lambda: hand_back(submission),
        every_s=HEARTBEAT_S,
        longest_s=longest_s,
    )


def hand_back(submission: Submission) -> None:
    """The worker was told to stop: another takes the submission at once, and the attempt is not counted."""
    handed_back = _mine(submission).update(
        state=SubmissionState.QUEUED,
        attempts=F("attempts") - 1,
        lease_owner="",
        lease_until=None,
        progress={"step": "queued", "done": 0, "total": 0, "what": "the grader was stopped; the next one takes it"},
    )
    if handed_back:
        notify.hint(submission.run_id)


@contextmanager
def deciding(submission: Submission) -> Iterator[Submission]:
    """A transaction in which the lease is known to be ours; raises ``LeaseLost``. For the one write that ends a grading."""
    with transaction.atomic():
        locked = _mine(submission).select_for_update(of=("self",)).first()
        if locked is None:
            raise LeaseLost(f"submission {submission.pk} is no longer ours")
        yield locked


def decide_graded(locked: Submission) -> None:
    """End a submission as graded; inside ``deciding``, with the grade already added."""
    locked.state, locked.ended_at = SubmissionState.GRADED, timezone.now()
    locked.void_reason = locked.operator_detail = ""
    locked.lease_owner, locked.lease_until = "", None
    locked.progress = {"step": "graded", "done": 1, "total": 1, "what": "graded"}
    locked.save()
    forget_carried(locked)
    if locked.run.state in (RunState.SUBMITTED, RunState.VOID):
        transition(locked.run_id, RunState.GRADED)


def _decide_void(locked: Submission, reason: str, detail: str) -> None:
    locked.state, locked.ended_at = SubmissionState.VOID, timezone.now()
    locked.void_reason, locked.operator_detail = reason[:500], detail[:20_000]
    locked.lease_owner, locked.lease_until = "", None
    locked.progress = {"step": "void", "done": 0, "total": 0, "what": reason[:200]}
    locked.save()
    if locked.run.state == RunState.SUBMITTED:
        transition(locked.run_id, RunState.VOID, reason)
    # the detail stands with the submission, for operators: it may hold what the delivery printed
    logger.error("submission %s of run %s is void: %s", locked.pk, locked.run_id, reason)


def give_up(submission: Submission, reason: str, *, detail: str, retry: bool, counted: bool = True) -> bool:
    """An attempt came to nothing through our fault: back into the queue while tries are left, else void; which of the
    two, True for void. One that is not ``counted`` could not even begin: it goes back, however often.

    Raises ``LeaseLost`` when the submission is not ours any more.
    """
    with deciding(submission) as locked:
        if counted and (not retry or locked.attempts >= MOST_ATTEMPTS):
            _decide_void(locked, reason, detail)
            return True
        locked.state, locked.operator_detail = SubmissionState.QUEUED, detail[:20_000]
        locked.lease_owner, locked.lease_until = "", None
        locked.not_before = timezone.now() + RETRY_PAUSE * locked.attempts
        locked.attempts -= not counted
        locked.progress = {"step": "queued", "done": 0, "total": 0, "what": f"{reason} It will be tried again."[:200]}
        locked.save()
    logger.warning("submission %s, attempt %s: %s", submission.pk, submission.attempts, reason)
    notify.hint(submission.run_id)
    return False


def requeue(submission: Submission) -> None:
    """Give a void submission its three attempts again; nothing happens to one that is not void."""
    Submission.objects.filter(pk=submission.pk, state=SubmissionState.VOID).update(
        state=SubmissionState.QUEUED, attempts=0, not_before=None, lease_owner="", lease_until=None, ended_at=None
    )


def queue_position(submission: Submission) -> int | None:
    """How many are graded before this one, counting it: 1 is next or being graded now. None when it is decided."""
    if submission.is_over:
        return None
    if submission.state == SubmissionState.GRADING:
        return 1
    turn: int = _in_turn().values_list("own_before", flat=True).get(pk=submission.pk)
    earlier = Q(created_at__lt=submission.created_at) | Q(created_at=submission.created_at, pk__lt=submission.pk)
    before = Q(own_before__lt=turn) | Q(earlier, own_before=turn) | Q(state=SubmissionState.GRADING)
    waiting = _in_turn().filter(before, state__in=[SubmissionState.QUEUED, SubmissionState.GRADING])
    return waiting.count() + 1
