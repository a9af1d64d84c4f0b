"""Beginning a run: draw the task, build its world, open its workspace."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from fdegym.accounts.buckets import RUN_STARTS
from fdegym.accounts.models import User
from fdegym.catalog.scenarios import card, get_scenario
from fdegym.delivery.errors import LevelUnknown, RunsTooMany
from fdegym.delivery.given import note_given
from fdegym.delivery.materials import materials_of
from fdegym.lib.errors import FdegymError, RunStateConflict
from fdegym.runs import log
from fdegym.runs.access import live_run_of
from fdegym.runs.models import BEGUN, Run, RunOrigin, RunState
from fdegym.runs.services import transition
from grading.worlds import ensure_world, world_is_built
from scenarios.kit.format import LEVELS
from scenarios.kit.load import Scenario
from workspaces.services import open_workspace

logger = logging.getLogger(__name__)
RUNS_AN_HOUR = 12  #: that one person may begin; nobody who works in them needs more


def draw_task(user: User, scenario: Scenario) -> str:
    """A task the person has not begun yet, drawn by the site's secret; all begun: any of them, again by the secret.

    The same person, scenario and number of runs give the same task, so that reloading a page draws nothing anew.
    """
    offered = scenario.config.offered
    begun = list(Run.objects.filter(user=user, scenario_id=scenario.id).values_list("task_id", flat=True))
    unseen = [task for task in offered if task not in begun] or offered
    text = f"draw\x1f{user.pk}\x1f{scenario.id}\x1f{len(begun)}"
    digest = hmac.new(settings.SECRET_KEY.encode(), text.encode(), hashlib.sha256).digest()
    return unseen[int.from_bytes(digest[:8], "big") % len(unseen)]


def begin_run(user: User, scenario_id: str, level: str) -> Run:
    """Begin a run of the scenario at a level, or give back the person's live run of it: beginning twice is beginning once.

    Returns at once: when the world lies in the cache the run is open, else it is being prepared by a worker. Raises
    ``ScenarioUnknown``, ``LevelUnknown``, ``RunsTooMany``.
    """
    scenario = get_scenario(scenario_id)
    if level not in card(scenario).levels:
        raise LevelUnknown(f"{scenario.config.title} is offered at {', '.join(card(scenario).levels)}, not at {level}.")
    if live := live_run_of(user, scenario_id):
        return live
    _refuse_run_after_run(user)
    token = RUN_STARTS.take()
    try:
        with transaction.atomic():
            own = Run.objects.filter(user=user, scenario_id=scenario_id, state__in=BEGUN)
            attempt = (own.aggregate(last=Max("attempt"))["last"] or 0) + 1
            run = Run.objects.create(
                user=user,
                scenario_id=scenario.id,
                task_id=draw_task(user, scenario),
                level=level,
                release=scenario.release,
                training=scenario.config.status == "training",
                attempt=attempt,
            )
            _note_begun(run)
    except Exception as problem:
        token.put_back()  # what did not begin is not counted
        # a second tab was first
        if isinstance(problem, IntegrityError) and (live := live_run_of(user, scenario_id)):
            return live
        raise
    return _prepare_now_or_later(run, scenario)


def _refuse_run_after_run(user: User) -> None:
    """Each run holds a workspace and then a grader: a script that begins and gives up would take them from everybody.

    A start that failed holds neither and is not counted: the person may try again at once.
    """
    lately = timezone.now() - timedelta(hours=1)
    if Run.objects.filter(user=user, begun_at__gt=lately, state__in=BEGUN).count() >= RUNS_AN_HOUR:
        raise RunsTooMany(
            f"You have begun {RUNS_AN_HOUR} runs within the hour. They are kept; begin the next one later."
        )


def begin_command_run(scenario_id: str, task_id: str, level: str) -> Run:
    """A run of a command (``play``, admission): the task is named, nothing is ranked, prepared before this returns."""
    scenario = get_scenario(scenario_id)
    scenario.facts_of(task_id)
    if level not in LEVELS:
        raise LevelUnknown(f"There is no level {level}; there are {', '.join(LEVELS)}.")
    run = Run.objects.create(
        user=None,
        origin=RunOrigin.COMMAND,
        scenario_id=scenario.id,
        task_id=task_id,
        level=level,
        release=scenario.release,
        training=scenario.config.status == "training",
        attempt=1,
    )
    _note_begun(run)
    return prepare_run(run.id)


def _note_begun(run: Run) -> None:
    """Everything that says whose run this is and whether it ranks; the task sealed, for the person may export the log."""
    log.append(
        run.id,
        "run.begun",
        {
            "level": run.level,
            "attempt": run.attempt,
            "training": run.training,
            "scenario": run.scenario_id,
            "origin": str(run.origin),
            "account": run.user_id,
            "begun_at": log.instant(run.begun_at),
            "task": log.seal(run.id, f"task {run.task_id}"),
        },
    )


def _prepare_now_or_later(run: Run, scenario: Scenario) -> Run:
    if world_is_built(scenario, run.task_id):
        try:
            return prepare_run(run.id)
        except FdegymError:
            logger.exception("run %s could not be prepared at once; a worker will try again", run.id)
    from fdegym.delivery.tasks import prepare

    wake(prepare, str(run.id))
    return Run.objects.get(pk=run.id)


def wake(task: Any, *arguments: str) -> None:
    """Tell a worker; when no broker answers, the sweep finds the work anyway."""
    try:
        task.delay(*arguments)
    except Exception:
        logger.warning("no broker took %s; the sweep will find it", getattr(task, "name", task), exc_info=True)


@contextmanager
def _only_here(run_id: uuid.UUID | str) -> Iterator[bool]:
    """Whether this process is the one on this host that prepares the run now."""
    locks = settings.VAR / "locks"
    locks.mkdir(exist_ok=True)
    path = locks / f"prepare-{run_id}"
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
        path.unlink(missing_ok=True)


def prepare_run(run_id: uuid.UUID | str) -> Run:
    """Build the world if need be, make the workspace, open the run. Idempotent; safe to call from anywhere at any time."""
    with _only_here(run_id) as mine:
        run = Run.objects.get(pk=run_id)
        if not mine or run.state != RunState.PREPARING:
            return run
        scenario = get_scenario(run.scenario_id)
        task = ensure_world(scenario, run.task_id)
        open_workspace(str(run.id), materials_of(run, task))
        note_given(run, task)
        try:
            return transition(run.id, RunState.OPEN)
        except RunStateConflict:
            return Run.objects.get(pk=run_id)


def reopen_workspace(run: Run) -> None:
    """Bring the workspace of an open run back: after an idle stop, or after its host lost it."""
    task = ensure_world(get_scenario(run.scenario_id), run.task_id)
    open_workspace(str(run.id), materials_of(run, task))
    note_given(run, task)
