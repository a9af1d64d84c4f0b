"""One attempt at a submission, in a worker: deploy, replay, judge, and write the grade if the lease still holds."""

from __future__ import annotations

import hashlib
import logging
import time
import traceback
from pathlib import Path

from django.conf import settings
from django.db.models import Max

from fdegym.catalog.scenarios import get_scenario
from fdegym.lib import counts, logs
from fdegym.runs import log
from fdegym.runs.models import Run
from grading.anchoring import task_anchors
from grading.anchors import TaskAnchors
from grading.carried import at_hand
from grading.contacts import conversation_of
from grading.measure import Measured, Watch, measure, unwatched
from grading.models import Grade, Submission
from grading.queue import LeaseLost, beating, decide_graded, deciding, give_up, note_progress
from grading.recount import field_hashes
from grading.replay import ReplayVoid
from grading.verdict import contact_row, figures, judge, key_fact_rows, replay_row
from grading.versions import grader_version, worker_environment
from grading.worlds import ensure_world
from scenarios.kit.cache import salt_fingerprint
from scenarios.kit.errors import ScenarioUnknown
from scenarios.kit.load import Task
from workspaces.runtime.errors import RuntimeUnusable, SandboxError

logger = logging.getLogger(__name__)

LONGEST_S = 2 * 3600.0  #: more than two anchors and a delivery can take within their own limits


def attempt(submission: Submission, *, watched: Watch = unwatched) -> None:
    """Grade a submission that was taken. Whatever goes wrong is recorded as our failure, never as the delivery's score.
    ``watched`` as in ``measure``.

    Raises nothing but interrupts: they leave the submission to whoever finds its lease run out.
    """
    begun = time.monotonic()
    with logs.bound(run=submission.run_id, submission=submission.pk, user=submission.run.user_id):
        try:
            with beating(submission, longest_s=LONGEST_S):
                outcome = _attempt(submission, watched)
        except LeaseLost:
            outcome = "taken_over"
            logger.warning(
                "submission %s was taken over by another worker; this one's result is dropped", submission.pk
            )
    counts.GRADES.add(time.monotonic() - begun, outcome=outcome)


def _attempt(submission: Submission, watched: Watch) -> str:
    """How it ended: ``graded``, ``again`` or ``void``."""
    try:
        _grade(submission, watched)
        return "graded"
    except ReplayVoid as failure:
        void, reason = give_up(submission, str(failure), detail=failure.detail, retry=failure.retry), "replay"
    except RuntimeUnusable as problem:
        words = "The host of this grader can make no sandboxes now."
        give_up(submission, words, detail=str(problem), retry=True, counted=False)
        return "again"
    except ScenarioUnknown as problem:  # another host may have it
        words = "The host of this grader does not have the scenario."
        give_up(submission, words, detail=str(problem), retry=True, counted=False)
        return "again"
    except SandboxError as problem:
        words = "The sandbox was lost while grading."
        void, reason = give_up(submission, words, detail=str(problem), retry=True), "sandbox"
    except LeaseLost:
        raise
    except Exception:
        logger.exception("grading submission %s failed", submission.pk)
        words = "Grading failed through an error of ours."
        void, reason = give_up(submission, words, detail=traceback.format_exc(), retry=True), "error"
    if void:
        counts.VOIDS.add(reason=reason)
    return "void" if void else "again"


def _grade(submission: Submission, watched: Watch) -> None:
    task = task_of(submission.run)
    anchors = task_anchors(
        task, progress=lambda done, total, what: note_progress(submission, "anchors", done, total, what)
    )
    with at_hand(submission) as sealed:
        check_seal(submission, sealed)
        measured = measure(
            task,
            sealed,
            on_step=lambda step: note_progress(submission, step),
            progress=lambda done, total, what: note_progress(submission, "replay", done, total, what),
            watched=watched,
        )
    note_progress(submission, "score")
    with deciding(submission) as locked:
        add_grade(locked, task, measured, anchors)
        decide_graded(locked)


def task_of(run: Run) -> Task:
    """The task of a run, with its world."""
    return ensure_world(get_scenario(run.scenario_id), run.task_id)


def check_seal(submission: Submission, sealed: Path) -> None:
    """Raise ``ReplayVoid`` unless the file is, byte for byte, what was submitted."""
    try:
        with sealed.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as problem:
        raise ReplayVoid("The submitted system cannot be read.", retry=True, detail=str(problem)) from problem
    if digest != submission.sha256:
        raise ReplayVoid(
            "The stored system is no longer what was submitted.",
            retry=False,
            detail=f"{sealed}: {digest} instead of {submission.sha256}",
        )


def add_grade(submission: Submission, task: Task, measured: Measured, anchors: TaskAnchors) -> Grade:
    """Add a grade to a submission that the caller has locked; also to the run's log."""
    run, replay = submission.run, measured.replay
    conversation = conversation_of(run)
    verdict = judge(replay, conversation, anchors, task.scenario.config.incidents)
    number = (submission.grades.aggregate(last=Max("number"))["last"] or 0) + 1
    grade = Grade(
        submission=submission,
        number=number,
        scenario_release=task.scenario.release,
        grader_version=grader_version(),
        salt_fingerprint=salt_fingerprint(settings.WORLD_SALT),
        kpi=replay.kpi,
        kpi_baseline=anchors.kpi_baseline,
        kpi_reference=anchors.kpi_reference,
        uplift=verdict.score.uplift,
        uplift_adjusted=verdict.score.uplift_adjusted,
        contact_cost=verdict.score.contact_cost,
        score=verdict.score.score,
        resolved=verdict.score.resolved,
        period=replay.period,
        incidents=list(verdict.incidents),
        permitted=list(verdict.permitted),
        breakdown=list(replay.breakdown),
        key_facts=key_fact_rows(task.key_facts, task.fact_texts, conversation),
        contacts=contact_row(conversation),
        replay=replay_row(replay) | ({"model_use": dict(measured.model_use)} if measured.model_use else {}),
        environment=_environment(run, task, measured),
        figures=figures(replay, verdict),
    )
    grade.differs = _differs(grade)
    grade.save()
    log.append(
        run.id,
        "grade.added",
        {
            "number": number,
            "kpi": replay.kpi,
            "score": str(verdict.score.score),
            "system": submission.sha256,
            "scenario_release": grade.scenario_release,
            "grader_version": grade.grader_version,
            "differs": grade.differs,
            "row": field_hashes(grade),
        },
    )
    return grade


def _environment(run: Run, task: Task, measured: Measured) -> dict[str, object]:
    environment: dict[str, object] = {**worker_environment(), **measured.environment, "world": task.meta.sha256}
    if run.release != task.scenario.release:
        environment["begun_with_release"] = run.release
    return environment


def _differs(grade: Grade) -> bool:
    """Whether the same system, scenario and grader gave other figures before: then the delivery is random."""
    before = (
        Grade.objects.filter(
            submission=grade.submission,
            scenario_release=grade.scenario_release,
            grader_version=grade.grader_version,
            salt_fingerprint=grade.salt_fingerprint,
        )
        .order_by("number")
        .first()
    )
    return before is not None and before.figures != grade.figures
