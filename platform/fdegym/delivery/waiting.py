"""A run that waits for its workspace: it goes on by itself, says where it stands, and may be withdrawn."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from fdegym.catalog.scenarios import get_scenario
from fdegym.delivery.begin import WITHDRAWN, prepare_run
from fdegym.delivery.submit import clear_away
from fdegym.lib.errors import FdegymError, RunStateConflict
from fdegym.runs import log
from fdegym.runs.models import Run, RunState
from fdegym.runs.services import transition
from grading.worlds import world_is_built
from workspaces.keeper.client import KeeperAway
from workspaces.places import Place
from workspaces.services import place_in_queue

logger = logging.getLogger(__name__)
PREPARING_TRIES = 3
TRY_AGAIN = timedelta(seconds=15)
FAILED = "run.preparing_failed"


def prepare_or_note(run_id: str, *, here: bool = True) -> None:
    """Prepare a run. A failure is noted in its log; after three of them it is given up, says so, and may be tried again.

    A keeper that is away is none: the run waits for it as for room. Whose person is not ``here`` passes nobody who waits.
    """
    try:
        prepare_run(run_id, here=here)
    except KeeperAway:
        logger.warning("run %s waits for the keeper, which does not answer", run_id)
    except Exception as failure:
        logger.exception("run %s could not be prepared", run_id)
        words = str(failure) if isinstance(failure, FdegymError) else "an error of ours; the operator's log has it"
        event = log.append(run_id, FAILED, {"reason": words[:500]})
        failures = len(log.events(run_id, kinds=[FAILED]))
        if failures >= PREPARING_TRIES and Run.objects.get(pk=run_id).state == RunState.PREPARING:
            transition(event.run_id, RunState.FAILED, words)


def go_on(run: Run) -> Place | None:
    """For the page of a run that is being prepared, which asks every few seconds: where its workspace stands.

    Keeps its place, and opens the run as soon as its workspace runs. None: it is open, a worker builds its world, or what
    failed is tried again in a moment. Raises ``ServiceUnavailable`` without a keeper.
    """
    place = place_in_queue(str(run.id))
    if place is not None:
        return place
    if world_is_built(get_scenario(run.scenario_id), run.task_id) and not _failed_lately(run):
        prepare_or_note(str(run.id))
        run.refresh_from_db()
        return place_in_queue(str(run.id)) if run.state == RunState.PREPARING else None
    return None


def _failed_lately(run: Run) -> bool:
    failures = log.events(run.id, kinds=[FAILED])
    return bool(failures) and failures[-1].at > timezone.now() - TRY_AGAIN


def withdraw_run(run: Run) -> None:
    """Give up waiting: the run was never open, nobody has seen anything of it, and it counts nowhere.

    Raises ``RunStateConflict`` for a run that is open by now.
    """
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.state != RunState.PREPARING:
            raise RunStateConflict("This run does not wait any more: its workspace was opened in this very moment.")
        log.append(run.id, WITHDRAWN, {})
        transition(run.id, RunState.FAILED, "You stopped waiting for its workspace.")
    run.refresh_from_db()
    try:
        clear_away(run)
    except FdegymError:
        logger.warning("the workspace of run %s could not be cleared away; the sweep does", run.id, exc_info=True)
