"""``manage.py admit [ID …]``: play every solution through the real engines; write ``anchors.json`` if all holds."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from fdegym.authoring.admission.old import Row, as_json, play_all, write
from fdegym.catalog.scenarios import get_scenario
from fdegym.delivery.local_services import local_services
from fdegym.lib.errors import FdegymError
from scenarios.kit.load import scenario_ids


def _line(row: Row) -> str:
    grade = row.played.grade
    incidents = ", ".join(incident["id"] for incident in grade.incidents) or "–"
    verdict = f"FAILS: {row.failure}" if row.failure else "holds"
    return (
        f"{row.task:<12} {row.name:<20} {row.kind:<10} KPI {grade.kpi:>9.1f}  U {grade.uplift:+.3f}  "
        f"C {grade.contact_cost:.3f}  S {grade.score:+.3f}  {incidents:<20} {verdict}"
    )


class Command(BaseCommand):
    help = "Play every solution of the scenarios (all without an ID) and write their anchors."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenarios", nargs="*", metavar="ID")
        parser.add_argument("--json", metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        report: dict[str, Any] = {}
        failed = []
        for scenario_id in options["scenarios"] or scenario_ids(settings.SCENARIO_DIRS):
            try:
                scenario = get_scenario(scenario_id)
                with local_services():
                    rows = []
                    for row in play_all(scenario, scenario.config.offered, self._progress):
                        rows.append(row)
                        self.stdout.write(_line(row))
            except FdegymError as problem:
                raise CommandError(str(problem)) from problem
            report[scenario_id] = as_json(scenario, rows)
            if report[scenario_id]["passed"]:
                written = write(scenario, rows)
                self.stdout.write(f"{scenario_id}: admitted; {written} is written")
                if written.parent != scenario.folder:
                    self.stdout.write(f"This user may not write the scenario's folder: cp {written} {scenario.folder}/")
            else:
                failed.append(scenario_id)
        if options["json"]:
            Path(options["json"]).write_text(json.dumps({"scenarios": report}, indent=2) + "\n", encoding="utf-8")
        if failed:
            raise CommandError(f"Not admitted: {', '.join(failed)}. No anchors were written for them.")

    def _progress(self, text: str) -> None:
        print(f"… {text}", file=sys.stderr, flush=True)
