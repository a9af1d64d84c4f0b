"""The lists of the operators' pages: runs, queues, hosts. Each a constant number of queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils import timezone

from fdegym.delivery.models import TrialRun, TrialState
from fdegym.lib.errors import FdegymError
from fdegym.presence.models import Process
from fdegym.runs.models import Run, RunEvent, RunState
from grading.models import Submission, SubmissionState
from workspaces.runtime.base import RuntimeReport
from workspaces.services import keeper_figures, keeper_report

ON_A_PAGE = 50
MOST = 200  #: of a queue; longer ones say how long they are
EVENTS_SHOWN = 200

#: Mark and style of a state: never colour alone.
MARKS: Mapping[str, tuple[str, str]] = {
    RunState.PREPARING: ("○", "busy"),
    RunState.OPEN: ("●", "busy"),
    RunState.SUBMITTED: ("○", "busy"),
    RunState.GRADED: ("✓", ""),
    RunState.VOID: ("▲", "warn"),
    RunState.FAILED: ("▲", "warn"),
}
AGES: Mapping[str, tuple[str, timedelta, bool]] = {
    "day": ("within a day", timedelta(days=1), True),
    "week": ("within a week", timedelta(days=7), True),
    "older-day": ("more than a day ago", timedelta(days=1), False),
    "older-week": ("more than a week ago", timedelta(days=7), False),
    "older-month": ("more than 30 days ago", timedelta(days=30), False),
}


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What an operator looks for; what is not understood is left out."""

    state: str = ""
    person: str = ""
    scenario: str = ""
    age: str = ""

    @classmethod
    def of(cls, asked: QueryDict) -> RunFilter:
        state, age = asked.get("state", ""), asked.get("age", "")
        return cls(
            state=state if state in RunState.values else "",
            person=asked.get("person", "").replace("\x00", "").strip()[:100],
            scenario=asked.get("scenario", "").replace("\x00", "")[:64],
            age=age if age in AGES else "",
        )

    def runs(self) -> QuerySet[Run]:
        rows = Run.objects.select_related("user", "submission").order_by("-begun_at", "pk")
        if self.state:
            rows = rows.filter(state=self.state)
        if self.person:
            rows = rows.filter(Q(user__username__icontains=self.person) | Q(user__display_name__icontains=self.person))
        if self.scenario:
            rows = rows.filter(scenario_id=self.scenario)
        if self.age:
            _, span, within = AGES[self.age]
            moment = timezone.now() - span
            rows = rows.filter(begun_at__gte=moment) if within else rows.filter(begun_at__lt=moment)
        return rows

    @property
    def is_set(self) -> bool:
        return any((self.state, self.person, self.scenario, self.age))

    def query(self) -> str:
        """For links to other pages of the same list."""
        asked = QueryDict(mutable=True)
        asked.update({name: getattr(self, name) for name in self.__slots__ if getattr(self, name)})
        return asked.urlencode()


def page_of_runs(wanted: RunFilter, number: str) -> Page[Run]:
    return Paginator(wanted.runs(), ON_A_PAGE).get_page(number)


@dataclass(frozen=True, slots=True)
class Queues:
    grading: list[Submission]
    waiting: list[Submission]
    waiting_in_all: int
    void: list[Submission]
    trials: list[TrialRun]
    preparing: list[Run]

    @property
    def is_empty(self) -> bool:
        return not any((self.grading, self.waiting, self.void, self.trials, self.preparing))


def queues() -> Queues:
    """What waits and what is under way."""
    rows = Submission.objects.select_related("run", "run__user")
    waiting = rows.filter(state=SubmissionState.QUEUED)
    return Queues(
        grading=list(rows.filter(state=SubmissionState.GRADING).order_by("created_at")[:MOST]),
        waiting=list(waiting.order_by("created_at")[:MOST]),
        waiting_in_all=waiting.count(),
        void=list(rows.filter(state=SubmissionState.VOID).order_by("-ended_at")[:ON_A_PAGE]),
        trials=list(
            TrialRun.objects.exclude(state=TrialState.OVER)
            .select_related("run", "run__user")
            .order_by("created_at")[:MOST]
        ),
        preparing=list(Run.objects.filter(state=RunState.PREPARING).select_related("user").order_by("begun_at")[:MOST]),
    )


@dataclass(frozen=True, slots=True)
class Keeper:
    """This host's keeper as it answers now; ``problem`` where it does not."""

    figures: Mapping[str, Any]
    report: RuntimeReport | None
    problem: str = ""


def keeper() -> Keeper:
    try:
        return Keeper(keeper_figures(), keeper_report())
    except FdegymError as problem:
        return Keeper({}, None, str(problem))


def processes() -> list[Process]:
    return list(Process.objects.exclude(kind="past").defer("counts"))


def events_of(run: Run) -> list[RunEvent]:
    """The last events of a run, the latest first. Their payloads hold what people wrote: pages show kind and time."""
    return list(RunEvent.objects.filter(run=run).only("seq", "kind", "at").order_by("-seq")[:EVENTS_SHOWN])
