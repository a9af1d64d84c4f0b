"""``manage.py lint [ID …]``: what is wrong with a scenario's files, each with file and place."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from fdegym.authoring.counting import counted
from fdegym.authoring.ground import sound_scenario
from fdegym.authoring.lint import Looked, look
from fdegym.lib.errors import FdegymError
from scenarios.kit.errors import Problem, ScenarioInvalid
from scenarios.kit.load import scenario_ids

UNSEEN_UNBUILT = "stakeholders.toml, conversations, phrasings.toml, the names of files that must be there"
UNSEEN_UNLOADED = f"world and grader, briefs and documents, {UNSEEN_UNBUILT}"


class Command(BaseCommand):
    help = "Check the files of scenarios (all of them without an ID)."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenarios", nargs="*", metavar="ID")

    def handle(self, *args: Any, **options: Any) -> None:
        found = 0
        for scenario_id in options["scenarios"] or scenario_ids(settings.SCENARIO_DIRS):
            looked = self._looked(scenario_id)
            for problem in looked.problems:
                self.stderr.write(f"{scenario_id}/{problem}" if problem.file else f"{scenario_id}: {problem.expected}")
            for unseen in looked.unseen:
                self.stderr.write(f"{scenario_id}: not looked at yet, because of these: {unseen}")
            found += len(looked.problems)
        if found:
            raise CommandError(f"{found} to put right.")

    def _looked(self, scenario_id: str) -> Looked:
        try:
            scenario = sound_scenario(scenario_id)
        except ScenarioInvalid as invalid:  # told first, and alone: what is built on such files says little
            return Looked(list(invalid.problems), (UNSEEN_UNLOADED,))
        except (FdegymError, OSError) as unreadable:
            return Looked([Problem("", "", str(unreadable))], (UNSEEN_UNLOADED,))
        problems = counted(scenario)
        try:
            looked = look(scenario)
        except (FdegymError, OSError) as unbuilt:  # a world that fails, or a full disk on which none can be built
            looked = Looked([Problem("world", "", str(unbuilt))], (UNSEEN_UNBUILT,))
        problems = list(dict.fromkeys([*looked.problems, *problems]))
        if not problems:
            self.stdout.write(f"{scenario_id}: nothing to put right, release {scenario.release[:12]}")
        return Looked(problems, looked.unseen)
