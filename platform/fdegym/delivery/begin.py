"""Beginning a run: draw the task, build its world, open its workspace, or wait for a turn and for room."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import logging
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max, Q
from django.utils import timezone

from fdegym.accounts.buckets import RUN_STARTS
from fdegym.accounts.models import User
from fdegym.catalog.scenarios import card, get_scenario
from fdegym.delivery.errors import LevelUnknown, RunsTooMany, WorkspacesTooMany
from fdegym.delivery.given import note_given
from fdegym.delivery.materials import materials_of
from fdegym.lib.errors import FdegymError, RunStateConflict
from fdegym.runs import log
from fdegym.runs.access import live_run_of
from fdegym.runs.models import BEGUN, Run, RunOrigin, RunState
from fdegym.runs.services import transition
from grading.worlds import ensure_world, world_is_built
from scenarios.kit.errors import ScenarioInvalid, ScenarioUnknown
from scenarios.kit.format import LEVELS
from scenarios.kit.load import Scenario
from workspaces.materials import WorkspaceMaterials
from workspaces.places import Place
from workspaces.runtime.base import SandboxState
from workspaces.services import ask_for_workspace, open_workspace, workspace_state

logger = logging.getLogger(__name__)
Ask = Callable[[str, WorkspaceMaterials], Place | None]
RUNS_AN_HOUR = 12  #: that one person may begin; nobody who works in them needs more
WITHDRAWN = "run.withdrawn"  #: the event of a run whose person did not wait for its workspace
DAY_S = 86_400.0
LIVE = (RunState.PREPARING, RunState.OPEN)


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

    Returns at once: when the world lies in the cache and the workspace has its turn and room, the run is open, else it is
    being prepared. Raises ``ScenarioUnknown``, ``LevelUnknown``, ``RunsTooMany``, ``WorkspacesTooMany``.
    """
    scenario = get_scenario(scenario_id)
    if level not in card(scenario).levels:
        raise LevelUnknown(f"{scenario.config.title} is offered at {', '.join(card(scenario).levels)}, not at {level}.")
    if live := live_run_of(user, scenario_id):
        return live
    _refuse_run_after_run(user)
    stopped = stopped_runs(user)
    token = RUN_STARTS.take()
    try:
        with transaction.atomic():
            _refuse_one_too_many(user, stopped)
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
        # a second tab was first, and it may have begun the last run that she could
        if isinstance(problem, IntegrityError | WorkspacesTooMany) and (live := live_run_of(user, scenario_id)):
            return live
        raise
    return _prepare_now_or_later(run, scenario)


def _refuse_run_after_run(user: User) -> None:
    """Each run holds a workspace and then a grader: a script that begins and gives up would take them from everybody.

    A start that failed holds neither and is not counted: the person may try again at once.
    """
    lately = Run.objects.filter(user=user, begun_at__gt=timezone.now() - timedelta(hours=1))
    counted = lately.filter(Q(state__in=BEGUN) | Q(events__kind=WITHDRAWN)).distinct().count()
    if counted >= RUNS_AN_HOUR:
        raise RunsTooMany(
            f"You have begun {RUNS_AN_HOUR} runs within the hour. They are kept; begin the next one later."
        )


def stopped_runs(user: User) -> set[uuid.UUID]:
    """The person's live runs whose workspaces do not run. Nobody is asked while all of them are allowed to."""
    live = Run.objects.filter(user=user, state__in=LIVE).values_list("pk", "state")
    if len(live) < settings.WORKSPACES_PER_USER:
        return set()
    opened = [pk for pk, state in live if state == RunState.OPEN]
    return {pk for pk in opened if workspace_state(str(pk)) is not SandboxState.RUNNING}


def _refuse_one_too_many(user: User, stopped: set[uuid.UUID]) -> None:
    """One beginning at a time for each person: two tabs cannot both have the last workspace that she may open.

    What was begun since ``stopped`` was asked for counts as open.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    live = Run.objects.filter(user=user, state__in=LIVE).exclude(pk__in=stopped)
    if live.count() >= settings.WORKSPACES_PER_USER:
        raise WorkspacesTooMany(open_words([_customer_of(run) for run in live]))


def _customer_of(run: Run) -> str:
    """As lists name it; a scenario that was taken off the site since has its id left."""
    try:
        return card(get_scenario(run.scenario_id)).customer
    except (ScenarioUnknown, ScenarioInvalid):
        return run.scenario_id


def open_words(customers: list[str]) -> str:
    """What is open, and what to do about it."""
    many = len(customers)
    return (
        f"You have {many} workspace{'' if many == 1 else 's'} open, as many as one person may have at once: "
        f"{', '.join(customers)}. Hand in one of these runs, or stop its workspace: the files are kept, and opening the run "
        "again brings it back."
    )


def begin_command_run(scenario_id: str, task_id: str, level: str, *, told: Callable[[str], None] = logger.info) -> Run:
    """A run of a command (``play``, admission): the task is named, nothing is ranked, prepared before this returns.

    While its workspace has to wait, ``told`` is called with the words for its place each time that it moves.
    """
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

    def wait(run_id: str, materials: WorkspaceMaterials) -> None:
        open_workspace(run_id, materials, room_within_s=DAY_S, told=lambda place: told(place.words))

    return prepare_run(run.id, ask=wait)


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


def prepare_run(run_id: uuid.UUID | str, *, here: bool = True, ask: Ask | None = None) -> Run:
    """Build the world if need be, ask for the workspace, open the run once it runs. Idempotent; safe to call from anywhere
    at any time.

    The run's own clock begins when it is opened. One whose workspace has to wait stays in preparation: to be called again.
    Whose person is not ``here`` passes nobody who waits. ``ask`` replaces ``ask_for_workspace``.
    """
    with _only_here(run_id) as mine:
        run = Run.objects.get(pk=run_id)
        if not mine or run.state != RunState.PREPARING:
            return run
        scenario = get_scenario(run.scenario_id)
        task = ensure_world(scenario, run.task_id)
        run.refresh_from_db()
        if run.state != RunState.PREPARING:  # she stopped waiting while it was built
            return run
        if (ask or partial(ask_for_workspace, here=here))(str(run.id), materials_of(run, task)) is not None:
            return run
        note_given(run, task)
        try:
            return transition(run.id, RunState.OPEN)
        except RunStateConflict:
            return Run.objects.get(pk=run_id)


def reopen_workspace(run: Run) -> None:
    """Bring the workspace of an open run back: after it was stopped, or after its host lost it. Raises ``HostFull``."""
    task = ensure_world(get_scenario(run.scenario_id), run.task_id)
    open_workspace(str(run.id), materials_of(run, task))
    note_given(run, task)


def ask_to_reopen(run: Run) -> Place | None:
    """The same for a page that asks again: None once it runs, else where it stands in the queue."""
    task = ensure_world(get_scenario(run.scenario_id), run.task_id)
    if (place := ask_for_workspace(str(run.id), materials_of(run, task))) is None:
        note_given(run, task)
    return place
