"""Graded runs as boards and pages use them: one query for any number of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce

from fdegym.leaderboard.ranking import Result
from fdegym.runs.models import Run, RunOrigin, RunState
from grading.models import Grade

#: Field of ``Result`` → where the database has it.
_FIELDS: dict[str, str | Coalesce] = {
    "run_id": "submission__run_id",
    "person": "submission__run__user_id",
    "scenario_id": "submission__run__scenario_id",
    "level": "submission__run__level",
    "attempt": "submission__run__attempt",
    "opened_at": Coalesce("submission__run__opened_at", "submission__run__begun_at"),
    "submitted_at": "submission__run__submitted_at",
    "uplift_adjusted": "uplift_adjusted",
    "contact_cost": "contact_cost",
    "score": "score",
    "resolved": "resolved",
}

#: Graded runs of people; those of commands (play, admission) are on no board. The first grade is the one that counts.
_OF_PEOPLE = Q(
    number=1,
    submission__run__origin=RunOrigin.PERSON,
    submission__run__state=RunState.GRADED,
    submission__run__user__isnull=False,
)
#: Training is on no board and in no aggregate.
_COUNTED = _OF_PEOPLE & Q(submission__run__training=False)


def _results(grades: QuerySet[Grade]) -> Iterator[Result]:
    rows = grades.values_list(*_FIELDS.values())
    return (Result(**dict(zip(_FIELDS, row, strict=True))) for row in rows.iterator(chunk_size=2000))


def counted_results(after: int = 0) -> Iterator[Result]:
    """Every graded run that counts anywhere, of hidden people too, from the grades with a higher id than ``after``."""
    return _results(Grade.objects.filter(_COUNTED, id__gt=after).order_by("id"))


def results_of_runs(runs: Iterable[Run]) -> dict[Any, Result]:
    """Results of these runs by run id; runs that are not graded are absent. For a person's own pages."""
    ids = [run.id for run in runs]
    return {one.run_id: one for one in _results(Grade.objects.filter(_OF_PEOPLE, submission__run_id__in=ids))}
