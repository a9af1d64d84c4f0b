"""Submitting: freeze, hash, queue. Once, whatever is clicked how often; what cannot be taken submits nothing."""

from __future__ import annotations

import logging
import shutil
import uuid
from pathlib import Path

from django.conf import settings
from django.db import transaction

from fdegym.delivery.begin import reopen_workspace, wake
from fdegym.delivery.left_out import left_out_of
from fdegym.delivery.materials import desk_directory
from fdegym.delivery.trials import forget_trials, withdraw_trials
from fdegym.gateway.places import run_directory
from fdegym.lib.errors import RunStateConflict
from fdegym.runs import log
from fdegym.runs.models import Run, RunState
from fdegym.runs.services import transition
from grading.carried import carry, others_may_grade
from grading.models import Submission
from grading.services import queue_submission
from workspaces.runtime.errors import SandboxGone
from workspaces.services import FrozenSystem, destroy_workspace, freeze_system

logger = logging.getLogger(__name__)


def submit_run(run_id: uuid.UUID | str, *, cause: str = "person") -> Submission:
    """Freeze ``system/``, close the run and queue one grade. Submitting again gives the same submission back.

    ``cause`` is what the log and the debrief say ended the run: ``person``, ``deadline``, ``abandoned`` or ``expired``.

    Raises ``RunStateConflict`` for a run that is not open. If this is interrupted before the submission is recorded, the
    run is still open and nothing is lost; afterwards the queue owns it.
    """
    if existing := Submission.objects.filter(run_id=run_id).first():
        return existing
    run = Run.objects.get(pk=run_id)
    if run.state != RunState.OPEN:
        raise RunStateConflict(f"This run is {RunState(run.state).label}; there is nothing to submit.")
    directory = Path(settings.SUBMISSION_DIR)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    frozen_path = directory / f"{run.id}-{uuid.uuid4().hex[:8]}.tar"
    frozen = _freeze(run, frozen_path)
    try:
        with transaction.atomic():
            withdraw_trials(run)
            log.append(
                run.id,
                "run.frozen",
                {
                    "sha256": frozen.sha256,
                    "files": frozen.files,
                    "bytes": frozen.bytes,
                    "cause": cause,
                    "left_out": left_out_of(frozen.skipped).as_json(),
                },
            )
            transition(run.id, RunState.SUBMITTED, cause)
            submission = queue_submission(run, frozen, cause)
            if others_may_grade():
                carry(submission, frozen.path)
    except RunStateConflict:
        # another tab was first; its submission stands
        frozen_path.unlink(missing_ok=True)
        return Submission.objects.get(run_id=run_id)
    _wake_grader()
    return submission


def _freeze(run: Run, target: Path) -> FrozenSystem:
    """Freeze ``system/``, also of a workspace that was stopped while nobody worked in it."""
    try:
        return freeze_system(str(run.id), target)
    except SandboxGone:
        reopen_workspace(run)
        return freeze_system(str(run.id), target)


def abandon_run(run_id: uuid.UUID | str) -> Submission:
    """Give up: graded as it stands, like any submission."""
    return submit_run(run_id, cause="abandoned")


def _wake_grader() -> None:
    from grading.tasks import grade_next

    wake(grade_next)


def clear_away(run: Run) -> None:
    """Remove workspace and sockets of a run that is over; its log, record and submission stay."""
    if run.is_live:
        raise RunStateConflict("A run that is not over keeps its workspace.")
    forget_trials(run)
    destroy_workspace(str(run.id))
    shutil.rmtree(desk_directory(run), ignore_errors=True)
    shutil.rmtree(run_directory(run.id), ignore_errors=True)
