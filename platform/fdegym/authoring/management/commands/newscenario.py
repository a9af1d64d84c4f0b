"""``manage.py newscenario ID``: a folder to begin with, complete and admissible, copied from the training scenario."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from fdegym.authoring.copying import begin_scenario
from fdegym.lib.errors import FdegymError


class Command(BaseCommand):
    help = "Begin a scenario: a copy of the training scenario under another id, as a draft."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("id", metavar="ID", help="small letters, digits, underscores")
        parser.add_argument("--directory", help="where its folder is made; default: a private directory, or scenarios/")

    def handle(self, *args: Any, **options: Any) -> None:
        scenario_id, named = options["id"], options["directory"]
        try:
            folder = begin_scenario(scenario_id, Path(named) if named else None)
        except FdegymError as problem:
            raise CommandError(str(problem)) from problem
        except OSError as problem:
            raise CommandError(f"The folder could not be made, and nothing is left of it: {problem}") from problem
        self.stdout.write(f"{folder}: a draft that can be admitted as it is. Change it piece by piece; next:\n\n")
        unseen = folder.parent not in settings.SCENARIO_DIRS
        before = f"SCENARIO_DIRS={folder.parent} " if unseen else ""
        for command in (f"lint {scenario_id}", f"preview {scenario_id}", f"admit {scenario_id} --only plays"):
            self.stdout.write(f"    {before}python3 manage.py {command}")
