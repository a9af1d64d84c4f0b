"""What an operator has a worker do."""

from __future__ import annotations

import logging

from celery import shared_task

from fdegym.catalog.scenarios import get_scenario
from grading.worlds import ensure_world

logger = logging.getLogger(__name__)


@shared_task  # type: ignore[untyped-decorator]
def build_world(scenario_id: str, task_id: str) -> None:
    """Build one world if it is not there. A failure is in this worker's log; the page goes on showing it as missing."""
    try:
        ensure_world(get_scenario(scenario_id), task_id)
    except Exception:
        logger.exception("a world of %s could not be built", scenario_id)
