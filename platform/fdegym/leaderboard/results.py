"""Graded runs as boards and pages use them: one query for any number of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from fdegym.accounts.models import User
from fdegym.leaderboard.ranking import Result
from fdegym.runs.models import Run, RunOrigin, RunState
from grading.models import Grade

#: Field of ``Result`` → where the database has it.
_FIELDS = {
    "run_id": "submission__run_id",
    "person": "submission__run__user_id",
    "scenario_id": "submission__run__scenario_id",
    "level": "submission__run__level",
    "attempt": "submission__run__attempt",
    "begun_at": "submission__run__begun_at",
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
#: Hidden means hidden wherever a person could be recognised.
_SHOWN = Q(submission__run__user__on_leaderboard=True, submission__run__user__is_active=True)
#: Training is on no board and in no aggregate.
_COUNTED = _OF_PEOPLE & Q(submission__run__training=False)
_RANKED = _COUNTED & Q(submission__run__attempt=1)


def stamp() -> tuple[Any, ...]:
    """Two equal stamps: nothing that a board is made of has changed in between. Two small queries.

    Grades are only ever added; what else can change is who is shown.
    """
    grades = Grade.objects.aggregate(last=Max("id"), at=Max("created_at"), number=Count("id"))
    hidden = User.objects.filter(Q(on_leaderboard=False) | Q(is_active=False)).order_by("id")
    return (*grades.values(), tuple(hidden.values_list("id", flat=True)))


def ranked_counts() -> dict[str, tuple[int, int]]:
    """Scenario → number of ranked runs and how many resolved it; added up by the database, hidden people included."""
    rows = (
        Grade.objects.filter(_RANKED)
        .values_list("submission__run__scenario_id")
        .annotate(runs=Count("id"), resolved_runs=Count("id", filter=Q(resolved=True)))
    )
    return {scenario_id: (runs, resolved) for scenario_id, runs, resolved in rows.order_by()}


def _results(grades: QuerySet[Grade]) -> list[Result]:
    return [Result(**dict(zip(_FIELDS, row, strict=True))) for row in grades.values_list(*_FIELDS.values())]


def ranked_results(scenario_id: str | None = None, *, shown_only: bool = True) -> list[Result]:
    """Each person's first begun run, where graded."""
    where = _RANKED & (_SHOWN if shown_only else Q())
    return _results(_of_scenario(Grade.objects.filter(where), scenario_id))


def all_results(scenario_id: str | None = None) -> list[Result]:
    """Every graded run of the people who are shown, but for training."""
    return _results(_of_scenario(Grade.objects.filter(_COUNTED & _SHOWN), scenario_id))


def results_of_runs(runs: Iterable[Run]) -> dict[Any, Result]:
    """Results of these runs by run id; runs that are not graded are absent. For a person's own pages."""
    ids = [run.id for run in runs]
    return {one.run_id: one for one in _results(Grade.objects.filter(_OF_PEOPLE, submission__run_id__in=ids))}


def _of_scenario(grades: QuerySet[Grade], scenario_id: str | None) -> QuerySet[Grade]:
    return grades if scenario_id is None else grades.filter(submission__run__scenario_id=scenario_id)
