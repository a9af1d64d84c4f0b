"""``manage.py desk``: answer for the customer's people, until told to stop."""

from __future__ import annotations

import asyncio
import logging
import resource
import signal
from pathlib import Path
from typing import Any

from celery import current_app
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from fdegym.presence import keeping
from stakeholders.desk import Desk, DeskRunning
from stakeholders.matching import find_match, warm_matchers

logger = logging.getLogger(__name__)
TRY_SYSTEMS = "fdegym.delivery.tasks.try_systems"  #: the worker's task, which this layer may only name


class Command(BaseCommand):
    help = "Run the desk: the process behind `ask` and the chat."

    def handle(self, *args: Any, **options: Any) -> None:
        keeping.begin("desk")
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # every run is a socket, every client another
        try:
            asyncio.run(_serve())
        except DeskRunning as running:
            raise CommandError(str(running)) from running


async def _serve() -> None:
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    await Desk(Path(settings.DESK_DIR), find_match, warm_matchers, announce_trial).run(stopping)


def announce_trial() -> None:
    """Tell a worker; when no broker answers, the sweep finds the trial."""
    try:
        current_app.send_task(TRY_SYSTEMS)
    except Exception:
        logger.warning("no broker took the announcement of a trial; the sweep will find it", exc_info=True)
