"""The worker's part of grading. A message only wakes: what is graded, by whom and how often, the table says."""

from __future__ import annotations

import logging

from celery import shared_task

from fdegym.lib import draining
from grading.attempt import attempt
from grading.measure import remove_leftovers
from grading.models import Submission
from grading.queue import take_submission
from grading.services import worker_name

logger = logging.getLogger(__name__)


@shared_task  # type: ignore[untyped-decorator]
def grade_next() -> None:
    """Grade the submission that has waited longest, if any waits."""
    submission = _next()
    if submission is not None:
        attempt(submission)


def _next() -> Submission | None:
    """A worker that was told to stop begins nothing: what waits is another's."""
    return None if draining.has_begun() else take_submission(worker_name())


@shared_task  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Every 10 s: remove what killed workers left, and grade what no message announced or whose worker stopped beating."""
    try:
        remove_leftovers()
    except Exception:
        logger.exception("leftovers of killed workers could not be removed; the next sweep tries again")
    while (submission := _next()) is not None:
        attempt(submission)
