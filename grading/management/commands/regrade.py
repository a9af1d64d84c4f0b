"""``manage.py regrade RUN …``: grade submissions again. Adds grades; the first completed one of a run goes on counting."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from fdegym.lib.errors import FdegymError
from grading.models import Submission
from grading.score import AnchorsUnusable
from grading.services import regrade


class Command(BaseCommand):
    help = "Grade a run's submission again; the result is added, the first completed grade goes on counting."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", nargs="+", help="id of the run")

    def handle(self, *args: Any, **options: Any) -> None:
        for run_id in options["run"]:
            try:
                submission = Submission.objects.select_related("run").get(run_id=run_id)
            except (Submission.DoesNotExist, ValidationError, ValueError) as missing:
                raise CommandError(f"There is no submission of a run {run_id}.") from missing
            try:
                grade = regrade(submission)
            except (FdegymError, AnchorsUnusable) as problem:
                raise CommandError(f"Run {run_id} was not graded again, and nothing is changed: {problem}") from problem
            if grade is None:
                submission.refresh_from_db()
                raise CommandError(f"Run {run_id} is void: {submission.void_reason}")
            said = f"run {run_id}: grade {grade.number}, KPI {grade.kpi:g}, S {grade.score}"
            if grade.differs:
                said += " (not reproducible: the delivery is random; the first grade counts)"
            self.stdout.write(said)
