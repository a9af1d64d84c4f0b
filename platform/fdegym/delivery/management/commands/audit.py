"""``manage.py audit RUN``: check afterwards everything about a run that can be checked. Changes nothing."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from fdegym.delivery.audit import Report, Result, audit_run
from fdegym.runs.models import Run


class Command(BaseCommand):
    help = (
        "Check a run's log, what it was given, its conversation, its submission and its grades. One line a check; ends "
        "with status 1 at the first thing that is not so. Changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("run", nargs="?", metavar="RUN", help="id of the run")
        which.add_argument("--all", action="store_true", help="every run, a line for each; all are checked")
        parser.add_argument("--json", action="store_true", help="as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["all"]:
            runs = list(Run.objects.order_by("begun_at", "id").values_list("id", flat=True))
            holds = self._each(runs, as_json=options["json"])
        else:
            report = _report(options["run"])
            holds = report.holds
            self.stdout.write(in_json(report, indent=1) if options["json"] else table(report))
        if not holds:
            raise SystemExit(1)

    def _each(self, runs: list[Any], *, as_json: bool) -> bool:
        wrong = 0
        for run_id in runs:
            try:
                report = audit_run(run_id)
            except Run.DoesNotExist:
                continue  # removed meanwhile
            wrong += not report.holds
            # a line each, at once: the audit of many runs is long
            self.stdout.write(in_json(report) if as_json else line(report))
        if not as_json:
            self.stdout.write(f"{len(runs)} runs, {wrong} of them with something that is not so.")
        return wrong == 0


def _report(run_id: Any) -> Report:
    try:
        return audit_run(run_id)
    except (Run.DoesNotExist, ValidationError, ValueError) as missing:
        raise CommandError(f"There is no run {run_id}.") from missing


def in_json(report: Report, *, indent: int | None = None) -> str:
    """A report as JSON, also of a row that holds what JSON does not have."""
    return json.dumps(report.as_json(), indent=indent, ensure_ascii=False, default=repr)


def table(report: Report) -> str:
    """A line for each check, and one that sums up."""
    run = report.run
    rows = [f"run {run.id}: {run.scenario_id}, {run.task_id}, {run.level}"]
    for found in report.findings:
        mark = found.result.upper() if found.result == Result.NOT_SO else str(found.result)
        rows.append(f"  {mark:<11}  {found.check:<12}  {found.words}")
    return "\n".join([*rows, summary(report)])


def line(report: Report) -> str:
    """One run in one line."""
    found = next((one for one in report.findings if one.result == Result.NOT_SO), None)
    words = f"NOT SO  {found.check}: {found.words}" if found else summary(report)
    return f"{report.run.id}  {words}"


def summary(report: Report) -> str:
    if not report.holds:
        return "Something is not so; what builds on it was not looked at."
    unknown = sum(found.result == Result.UNKNOWN for found in report.findings)
    checked = len(report.findings) - unknown
    return f"{checked} checks are so" + (f", {unknown} could not be made here." if unknown else ".")
