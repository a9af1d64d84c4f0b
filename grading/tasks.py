"""The worker's part of grading. A message only wakes: what is graded, by whom and how often, the table says."""

from __future__ import annotations

import logging

from celery import shared_task

from grading.attempt import attempt
from grading.measure import remove_leftovers
from grading.queue import take_submission
from grading.services import worker_name

logger = logging.getLogger(__name__)


@shared_task  # type: ignore[untyped-decorator]
def grade_next() -> None:
    """Grade the submission that has waited longest, if any waits."""
    submission = take_submission(worker_name())
    if submission is not None:
        attempt(submission)


@shared_task  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Every 10 s: remove what killed workers left, and grade what no message announced or whose worker stopped beating."""
    try:
        remove_leftovers()
    except Exception:
        logger.exception("leftovers of killed workers could not be removed; the next sweep tries again")
    while (submission := take_submission(worker_name())) is not None:
        attempt(submission)
