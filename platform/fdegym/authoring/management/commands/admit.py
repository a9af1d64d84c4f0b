"""``manage.py admit [ID …]``: play every solution of every task through the real engines; write ``anchors.json``."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from fdegym.authoring.admission.admit import admit, wanted_of
from fdegym.authoring.admission.report import Report, table, write
from fdegym.authoring.ground import sound_scenario
from fdegym.lib.errors import FdegymError
from scenarios.kit.load import scenario_ids


def refuse_unwritable(path: Path) -> None:
    """Better now than after an hour of plays."""
    if path.is_dir():
        raise CommandError(f"{path} is a folder; name a file for the JSON.")
    if not path.absolute().parent.is_dir():
        raise CommandError(f"{path} cannot be written: there is no folder {path.absolute().parent}.")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise CommandError(f"{path} cannot be written by this user.")


class Command(BaseCommand):
    help = "Play every solution of the scenarios (all without an ID), check what must hold and write their anchors."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenarios", nargs="*", metavar="ID")
        parser.add_argument("--json", metavar="FILE", help="write everything that was measured as JSON")
        parser.add_argument(
            "--task", action="append", default=[], metavar="T", help="only this task (repeatable); writes no anchors"
        )
        parser.add_argument(
            "--only",
            action="append",
            default=[],
            metavar="NAME",
            help="only this solution or check, or all plays, checks, battery (repeatable); writes no anchors",
        )
        parser.add_argument("--jobs", type=int, metavar="N", help="worker processes (default: as many as cores)")
        parser.add_argument("--fresh", action="store_true", help="play everything anew, whatever is kept")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["json"]:
            refuse_unwritable(Path(options["json"]))
        try:
            ids = options["scenarios"] or scenario_ids(settings.SCENARIO_DIRS)
            scenarios = [sound_scenario(scenario_id) for scenario_id in dict.fromkeys(ids)]
            wanted = wanted_of(scenarios, options["task"], options["only"], options["jobs"], options["fresh"])
            reports = admit(wanted)
        except FdegymError as problem:
            raise CommandError(str(problem)) from problem
        except OSError as problem:
            raise CommandError(
                f"{problem}. What was finished is kept; the same command goes on from there."
            ) from problem
        except KeyboardInterrupt:
            raise CommandError("Interrupted. What was finished is kept; the same command goes on from there.") from None
        if options["json"]:
            self._write_json(Path(options["json"]), reports)
        failed = [report.scenario.id for report in reports if not self._tell(report)]
        if failed:
            raise CommandError(f"Not admitted: {', '.join(failed)}. No anchors were written for them.")

    def _write_json(self, path: Path, reports: list[Report]) -> None:
        found = {report.scenario.id: report.as_json() for report in reports}
        try:
            path.write_text(json.dumps({"scenarios": found}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError as problem:
            raise CommandError(f"{path} cannot be written: {problem.strerror}. What was played is kept.") from problem

    def _tell(self, report: Report) -> bool:
        """Print the table and, where all holds, write the anchors; whether all holds."""
        for line in table(report):
            self.stdout.write(line)
        if not report.holds:
            return False
        scenario = report.scenario
        if not report.whole or settings.WORLD_SALT:
            why = "its worlds are salted" if settings.WORLD_SALT else "not everything was played"
            self.stdout.write(f"{scenario.id}: all of this holds; no anchors are written, {why}")
            return True
        try:
            written = write(report)
        except OSError as problem:
            self.stderr.write(f"{scenario.id}: all of this holds, and its anchors cannot be written: {problem}")
            return False
        self.stdout.write(f"{scenario.id}: admitted; {written} is written")
        if written.parent != scenario.folder:
            self.stdout.write(
                f"This user may not write the scenario's folder: cp {written.parent}/* {scenario.folder}/"
            )
        return True
