"""What the worker does for runs: prepare them, end those whose time is over, remove what no run owns."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from fdegym.delivery.leftovers import remove_leftovers
from fdegym.delivery.retention import apply_retention
from fdegym.delivery.submit import clear_away, submit_run
from fdegym.delivery.trials import run_trials
from fdegym.delivery.waiting import prepare_or_note
from fdegym.lib import logs
from fdegym.lib.errors import FdegymError
from fdegym.runs.models import Run, RunState
from workspaces.services import reconcile

logger = logging.getLogger(__name__)
GRACE = timedelta(minutes=30)  #: how long the workspace of a finished run stays


@shared_task  # type: ignore[untyped-decorator]
def prepare(run_id: str) -> None:
    """Prepare one run whose person has just begun it; what fails is noted, what has to wait goes on by itself."""
    logs.bind(run=run_id)
    prepare_or_note(run_id)


@shared_task  # type: ignore[untyped-decorator]
def try_systems() -> None:
    """Run the trials that were asked for. A message wakes it, and every 10 s it looks for what no message announced."""
    run_trials()


@shared_task  # type: ignore[untyped-decorator]
def remove_what_is_old() -> None:
    """Remove what this host has kept for as long as the site's rule says."""
    apply_retention()


@contextmanager
def _going_on(run: Run, problem: str) -> Iterator[None]:
    try:
        yield
    except Exception:
        logger.exception("run %s %s; the next sweep tries again", run.id, problem)


@shared_task  # type: ignore[untyped-decorator]
def sweep_workspaces() -> None:
    """Take up runs that no message or page announced, submit those past the customer's deadline, clear away what is over.

    A run with which that cannot be done keeps no other waiting: it is tried again with the next sweep.
    """
    now = timezone.now()
    waiting = Run.objects.filter(state=RunState.PREPARING, begun_at__lt=now - timedelta(seconds=10))
    for run in waiting.order_by("begun_at"):
        with _going_on(run, "could not be prepared"), logs.bound(run=str(run.id)):
            prepare_or_note(str(run.id), here=False)
    live = {str(pk) for pk in Run.objects.filter(state=RunState.OPEN).values_list("pk", flat=True)}
    live |= {str(pk) for pk in Run.objects.filter(state=RunState.PREPARING).values_list("pk", flat=True)}
    kept = Run.objects.filter(submitted_at__gt=now - GRACE).values_list("pk", flat=True)
    recently = Run.objects.filter(
        state__in=[RunState.GRADED, RunState.VOID, RunState.FAILED],
        ended_at__lt=now - GRACE,
        ended_at__gt=now - GRACE - timedelta(minutes=10),
    )
    for run in recently:
        with _going_on(run, "could not be cleared away"):
            clear_away(run)
    for run in Run.objects.filter(state=RunState.OPEN, events__kind="contact.deadline").distinct():
        with _going_on(run, "is past its deadline and could not be submitted"):
            submit_run(run.id, cause="deadline")
    reconcile(sorted(live | {str(pk) for pk in kept}))
    try:
        remove_leftovers()
    except (FdegymError, OSError):
        logger.exception("what no run owns could not be removed; the next sweep tries again")
