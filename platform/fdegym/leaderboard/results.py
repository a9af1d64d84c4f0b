"""Graded runs as boards and pages use them: one query for any number of them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.db.models import Q, QuerySet

from fdegym.leaderboard.ranking import Result
from fdegym.runs.models import Run, RunOrigin, RunState
from grading.models import Grade

_FIELDS = (
    "submission__run_id",
    "submission__run__user_id",
    "submission__run__scenario_id",
    "submission__run__level",
    "submission__run__attempt",
    "submission__run__begun_at",
    "submission__run__submitted_at",
    "uplift_adjusted",
    "contact_cost",
    "score",
    "resolved",
)

#: Graded runs of people; those of commands (play, admission) are on no board. The first grade is the one that counts.
_OF_PEOPLE = Q(
    number=1,
    submission__run__origin=RunOrigin.PERSON,
    submission__run__state=RunState.GRADED,
    submission__run__user__isnull=False,
)
#: Hidden means hidden wherever a person could be recognised.
_SHOWN = Q(submission__run__user__on_leaderboard=True, submission__run__user__is_active=True)
_RANKED = Q(submission__run__attempt=1)


def _results(grades: QuerySet[Grade]) -> list[Result]:
    rows = []
    for run_id, *start, adjusted, cost, score, resolved in grades.values_list(*_FIELDS):
        rows.append(Result(run_id, *start, Decimal(adjusted), Decimal(cost), Decimal(score), resolved))
    return rows


def ranked_results(scenario_id: str | None = None, *, shown_only: bool = True) -> list[Result]:
    """Each person's first begun run, where graded."""
    where = _OF_PEOPLE & _RANKED & (_SHOWN if shown_only else Q())
    return _results(_of_scenario(Grade.objects.filter(where), scenario_id))


def all_results(scenario_id: str | None = None) -> list[Result]:
    """Every graded run of the people who are shown."""
    return _results(_of_scenario(Grade.objects.filter(_OF_PEOPLE & _SHOWN), scenario_id))


def results_of_runs(runs: Iterable[Run]) -> dict[Any, Result]:
    """Results of these runs by run id; runs that are not graded are absent. For a person's own pages."""
    ids = [run.id for run in runs]
    return {one.run_id: one for one in _results(Grade.objects.filter(_OF_PEOPLE, submission__run_id__in=ids))}


def _of_scenario(grades: QuerySet[Grade], scenario_id: str | None) -> QuerySet[Grade]:
    return grades if scenario_id is None else grades.filter(submission__run__scenario_id=scenario_id)
