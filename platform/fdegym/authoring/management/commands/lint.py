"""``manage.py lint [ID …]``: what is wrong with a scenario's files, each with file and place."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from fdegym.authoring.ground import sound_scenario
from fdegym.authoring.lint import lint
from fdegym.lib.errors import FdegymError
from scenarios.kit.load import scenario_ids


class Command(BaseCommand):
    help = "Check the files of scenarios (all of them without an ID)."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenarios", nargs="*", metavar="ID")

    def handle(self, *args: Any, **options: Any) -> None:
        found = 0
        for scenario_id in options["scenarios"] or scenario_ids(settings.SCENARIO_DIRS):
            try:
                scenario = sound_scenario(scenario_id)
                problems = lint(scenario)
            except (FdegymError, OSError) as unreadable:  # a full disk, say, on which no world can be built
                self.stderr.write(
                    f"{scenario_id}: {unreadable}" if isinstance(unreadable, OSError) else str(unreadable)
                )
                found += 1
                continue
            for problem in problems:
                self.stderr.write(f"{scenario_id}/{problem}")
            found += len(problems)
            if not problems:
                self.stdout.write(f"{scenario_id}: nothing to put right, release {scenario.release[:12]}")
        if found:
            raise CommandError(f"{found} to put right.")
