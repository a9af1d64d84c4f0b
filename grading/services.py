"""What other parts of the product ask of grading."""

from __future__ import annotations

import socket
import time

from django.db import transaction

from fdegym.catalog.scenarios import get_scenario
from fdegym.runs.models import Run
from grading.anchoring import task_anchors
from grading.attempt import add_grade, attempt, check_seal, task_of
from grading.carried import at_hand
from grading.contacts import conversation_of
from grading.measure import Watch, held_by, measure, unwatched
from grading.models import Grade, Submission, SubmissionState
from grading.processes import process_name
from grading.queue import (
    heartbeat,
    queue_position,
    queue_submission,
    requeue,
    take_submission,
    take_this_submission,
)

__all__ = [
    "attempt",
    "conversation_of",
    "current_grade",
    "grade_submission",
    "heartbeat",
    "queue_position",
    "queue_submission",
    "regrade",
    "take_submission",
    "worker_name",
]

ASK_AGAIN_S = 0.5


def worker_name() -> str:
    """This process among the workers of all hosts."""
    return f"{socket.gethostname()}/{process_name()}"


def current_grade(run: Run) -> Grade | None:
    """The grade that counts: the first completed one. Later ones are for audit and replace nothing."""
    return Grade.objects.filter(submission__run=run).select_related("submission").order_by("number").first()


def grade_submission(submission: Submission, *, watched: Watch = unwatched) -> Grade | None:
    """Bring a submission to its end, here and now; the grade that counts, or None when it ended void.

    Where another worker is grading it this waits for that worker, and takes over should it die. ``watched`` as in
    ``measure``; it sees only what this process grades. Raises ``RuntimeUnusable`` or ``ScenarioUnknown`` where this host
    cannot grade.
    """
    while True:
        submission.refresh_from_db()
        if submission.is_over:
            return current_grade(submission.run)
        taken = take_this_submission(submission, worker_name())
        if taken is not None:
            attempt(taken, watched=watched)
            submission.refresh_from_db()
            if not submission.is_over and not submission.attempts:  # it could not even begin: whoever waits is told why
                get_scenario(submission.run.scenario_id)
                held_by()
        else:
            time.sleep(ASK_AGAIN_S)


def regrade(submission: Submission) -> Grade | None:
    """Grade a decided submission once more and add the result; nothing is replaced, the first completed grade counts.

    A void submission gets its three attempts anew. For a graded one, raises ``ReplayVoid`` or ``SandboxError`` when
    this grading came to nothing; nothing is added then. ``Grade.differs`` says that the delivery is random.
    """
    submission.refresh_from_db()
    if submission.state != SubmissionState.GRADED:
        requeue(submission)
        return grade_submission(submission)
    task = task_of(submission.run)
    anchors = task_anchors(task)
    with at_hand(submission) as sealed:
        check_seal(submission, sealed)
        measured = measure(task, sealed)
    with transaction.atomic():
        locked = Submission.objects.select_for_update(of=("self",)).get(pk=submission.pk)
        return add_grade(locked, task, measured, anchors)
