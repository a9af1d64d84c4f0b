"""``manage.py prepare``: database, static files, worlds and the matcher's weights. Idempotent; part of ``make setup``."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from fdegym.catalog.scenarios import get_scenario, scenarios
from fdegym.lib.errors import FdegymError
from grading.worlds import ensure_world, grading_runtime, world_is_built
from scenarios.kit.load import Scenario
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
            every = [get_scenario(card.id) for card in scenarios()]
            try:
                self._build_worlds(every)
                for scenario in every:
                    warm_matcher(scenario)
            except FdegymError as problem:
                raise CommandError(str(problem)) from problem

    def _build_worlds(self, every: Sequence[Scenario]) -> None:
        """Each in a process of its own, as many at a time as there are processors."""
        missing = [
            (scenario, task)
            for scenario in every
            for task in scenario.config.offered
            if not world_is_built(scenario, task)
        ]
        grading_runtime()  # made once, before the threads that share it
        with ThreadPoolExecutor(os.cpu_count()) as building:
            for number, scenario_id in enumerate(building.map(_built, missing), start=1):
                # a task's name is nothing that a player may read off a screen
                self.stdout.write(f"fdegym: built a world of {scenario_id}, {number} of {len(missing)}")


def _built(world: tuple[Scenario, str]) -> str:
    scenario, task_id = world
    ensure_world(scenario, task_id)
    return scenario.id
