"""What an operator has a worker do."""

from __future__ import annotations

import logging

from celery import shared_task

from fdegym.catalog.scenarios import get_scenario
from grading.worlds import ensure_world

logger = logging.getLogger(__name__)


@shared_task  # type: ignore[untyped-decorator]
def build_worlds(scenario_id: str) -> None:
    """Build the worlds of a scenario that are not there. One that fails keeps no other waiting: it stays missing, and
    this worker's log says why."""
    scenario = get_scenario(scenario_id)
    for number, task_id in enumerate(scenario.config.offered, start=1):
        try:
            ensure_world(scenario, task_id)
        except Exception:
            # by its number: a task's name is nothing that a player may read off a screen
            logger.exception("world %s of %s could not be built", number, scenario_id)
