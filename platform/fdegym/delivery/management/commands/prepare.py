"""``manage.py prepare``: database, static files, worlds and the matcher's weights. Idempotent; part of ``make setup``."""

from __future__ import annotations

import fcntl
import shutil
import time
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from fdegym.catalog.scenarios import get_scenario, scenarios
from fdegym.lib.errors import FdegymError
from grading.worlds import ensure_world, world_is_built
from stakeholders.matching import warm_matcher
from workspaces.services import sandbox_report

LEAST_FREE_MB = 500  #: below it the first runs would stop in the middle


class Command(BaseCommand):
    help = "Prepare everything that running needs."

    def handle(self, *args: Any, **options: Any) -> None:
        with (settings.VAR / "prepare.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            report = sandbox_report()
            if not report.usable:
                raise CommandError(f"No sandbox can be made on this machine: {report.problem}")
            free_mb = shutil.disk_usage(settings.VAR).free // 2**20
            if free_mb < LEAST_FREE_MB:
                raise CommandError(
                    f"Only {free_mb} MB are free on the disk of {settings.VAR}; worlds, workspaces and submissions need "
                    f"{LEAST_FREE_MB} MB. Free some, or set FDEGYM_VAR to a directory on a larger disk."
                )
            call_command("migrate", interactive=False, verbosity=0)
            call_command("createcachetable", verbosity=0)
            call_command("collectstatic", interactive=False, verbosity=0)
            for card in scenarios():
                self._prepare(card.id)

    def _prepare(self, scenario_id: str) -> None:
        scenario = get_scenario(scenario_id)
        try:
            for task_id in scenario.config.offered:
                if not world_is_built(scenario, task_id):
                    started = time.monotonic()
                    ensure_world(scenario, task_id)
                    # a task's name is nothing that a player may read off a screen
                    self.stdout.write(f"fdegym: built a world of {scenario_id} in {time.monotonic() - started:.0f} s")
            warm_matcher(scenario)
        except FdegymError as problem:
            raise CommandError(str(problem)) from problem
