"""``manage.py install-scenario ARCHIVE``: check a scenario that somebody sent and put it into the first of SCENARIO_DIRS."""

# ruff: noqa: N999 - a command is named as it is typed
from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from fdegym.authoring.installing import install
from fdegym.lib.errors import FdegymError


class Command(BaseCommand):
    help = "Unpack, check and install a scenario (.tar.gz or .zip) into the first directory of SCENARIO_DIRS."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("archive", metavar="ARCHIVE", help="holds one folder, named as the scenario's id")
        parser.add_argument("--replace", action="store_true", help="take the place of the one of that id")

    def handle(self, *args: Any, **options: Any) -> None:
        archive = Path(options["archive"])
        try:
            installed = install(archive, replace=options["replace"])
        except FdegymError as problem:
            raise CommandError(f"{archive.name} is not installed, nothing was changed. {problem}") from problem
        except OSError as problem:
            raise CommandError(f"{archive.name} is not installed, nothing was changed: {problem}") from problem
        scenario = installed.scenario
        self.stdout.write(
            f"{scenario.id}: {'replaced' if installed.replaced else 'installed'} in {installed.folder.parent}, release "
            f"{scenario.release[:12]}"
        )
        offered = scenario.config.status != "draft"
        self.stdout.write("The site offers it now." if offered else "It is a draft: the site does not offer it yet.")
        self.stdout.write(
            f"Anchors are this site's to measure. Before anybody is measured: python3 manage.py admit {scenario.id}"
        )
