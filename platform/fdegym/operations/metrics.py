"""Figures for Prometheus: what processes counted, what waits now, what the keeper holds.

However many runs there are, the number of queries is the same and each reads only what is under way: the rows of the
processes, and what partial indexes hold. The keeper is asked over its socket with a time limit; where it does not
answer, its figures are missing and ``fdegym_keeper_up`` is 0.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.models import Count, Min, Q
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from fdegym.delivery.models import TrialRun, TrialState
from fdegym.lib import counts
from fdegym.lib.errors import FdegymError
from fdegym.presence.models import Process
from fdegym.runs.models import Run, RunState
from grading.models import Submission, SubmissionState
from workspaces.services import keeper_figures

logger = logging.getLogger(__name__)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
KINDS = ("site", "desk", "gateway", "worker", "grader")  #: a grader is a worker of a host that only grades


def exposition() -> bytes:
    """Everything, in Prometheus's text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Figures())
    return generate_latest(registry)


class _Figures(Collector):
    def collect(self) -> Iterator[Metric]:
        rows = list(Process.objects.only("kind", "seen_at", "counts"))
        keeper = _keeper()
        totals = [counts.from_rows(row.counts) for row in rows]
        totals.append(counts.from_rows(keeper["counts"]) if keeper else {})
        yield from counted(counts.added(totals))
        yield from _processes(rows)
        yield from _keepers(keeper)
        yield from _under_way()
        yield from _latencies()
        yield _gauge("fdegym_disk_free_bytes", "Free where FDEGYM_VAR lies.", shutil.disk_usage(settings.VAR).free)


# ---- what was counted ------------------------------------------------------------------------------------------------


def counted(totals: counts.Totals) -> Iterator[Metric]:
    """Families of everything that is declared; one that never happened has no samples."""
    by_name: dict[str, counts.Totals] = defaultdict(dict)
    for (name, labels), number in totals.items():
        by_name[name][(name, labels)] = number
    for declared in counts.DECLARED:
        if isinstance(declared, counts.Counter):
            yield _counter(declared, by_name[declared.name])
        else:
            yield _histogram(declared, by_name[declared.name], by_name[f"{declared.name}_sum"])


def _counter(declared: counts.Counter, totals: counts.Totals) -> Metric:
    family = CounterMetricFamily(declared.name.removesuffix("_total"), declared.meaning, labels=declared.labels)
    if not totals and not declared.labels:
        family.add_metric([], 0)
    for (_, labels), number in totals.items():
        family.add_metric(_values(declared.labels, dict(labels)), number)
    return family


def _histogram(declared: counts.Durations, totals: counts.Totals, sums: counts.Totals) -> Metric:
    family = HistogramMetricFamily(declared.name, declared.meaning, labels=declared.labels)
    series: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for (_, labels), number in totals.items():
        given = dict(labels)
        within = given.pop("le", "inf")
        series[tuple(_values(declared.labels, given))][within] = number
    summed = {tuple(_values(declared.labels, dict(labels))): number for (_, labels), number in sums.items()}
    for values, buckets in series.items():
        so_far, cumulative = 0.0, []
        for limit in declared.limits:
            so_far += buckets.get(str(limit), 0.0)
            cumulative.append((str(limit), so_far))
        # a limit of another release, or none: it took longer than all of ours
        cumulative.append(("+Inf", sum(buckets.values())))
        family.add_metric(list(values), cumulative, summed.get(values, 0.0))
    return family


def _values(names: tuple[str, ...], labels: dict[str, str]) -> list[str]:
    return [labels.get(name, "") for name in names]


# ---- what is there now -----------------------------------------------------------------------------------------------


def _gauge(name: str, meaning: str, number: float) -> Metric:
    family = GaugeMetricFamily(name, meaning)
    family.add_metric([], number)
    return family


def _labelled(name: str, meaning: str, label: str, numbers: dict[str, float]) -> Metric:
    family = GaugeMetricFamily(name, meaning, labels=[label])
    for value, number in numbers.items():
        family.add_metric([value], number)
    return family


def _processes(rows: list[Process]) -> Iterator[Metric]:
    living = {kind: float(sum(row.kind == kind and not row.is_silent for row in rows)) for kind in KINDS}
    yield _labelled("fdegym_processes", "Processes that were heard of within a minute.", "kind", living)


def _keeper() -> dict[str, Any] | None:
    try:
        return keeper_figures()
    except FdegymError:
        return None


def _keepers(keeper: dict[str, Any] | None) -> Iterator[Metric]:
    yield _gauge("fdegym_keeper_up", "Whether this host's keeper answered.", float(keeper is not None))
    if keeper is None:
        return
    room = max(0, keeper["workspaces_max"] - keeper["running"])
    memory_left = max(0, keeper["memory_mb_max"] - keeper["memory_mb"])
    yield _gauge("fdegym_workspaces_open", "Workspaces that run on this host.", keeper["running"])
    yield _gauge("fdegym_workspaces_room", "Workspaces that this host has room for beside them, by number.", room)
    yield _gauge("fdegym_workspaces_memory_left_bytes", "Memory left for workspaces.", memory_left * 2**20)
    yield _gauge("fdegym_workspace_starts_waiting", "Workspaces that wait to start.", keeper["starts_waiting"])
    oldest_s = keeper["starts_oldest_s"]
    yield _gauge("fdegym_workspace_starts_oldest_seconds", "How long the oldest of them has waited.", oldest_s)
    yield _gauge("fdegym_terminals_live", "Terminals whose shells live.", keeper["terminals"])


def _under_way() -> Iterator[Metric]:
    waiting = [str(SubmissionState.QUEUED), str(SubmissionState.GRADING)]
    found = _by_state(Submission.objects.filter(state__in=waiting), "created_at", waiting)
    yield from _queue("submissions", "Submissions that wait or are being graded", found)
    trial_states = [str(TrialState.WAITING), str(TrialState.RUNNING)]
    found = _by_state(TrialRun.objects.filter(~Q(state=TrialState.OVER)), "created_at", trial_states)
    yield from _queue("trials", "Trials that wait or are being run", found)
    live = [str(RunState.PREPARING), str(RunState.OPEN)]
    found = _by_state(Run.objects.filter(state__in=live), "begun_at", live)
    yield from _queue("runs", "Runs that are being prepared or open", found)


State = dict[str, tuple[int, datetime | None]]


def _by_state(rows: Any, moment: str, states: list[str]) -> State:
    found = rows.order_by().values_list("state").annotate(number=Count("pk"), oldest=Min(moment))
    return dict.fromkeys(states, (0, None)) | {state: (number, oldest) for state, number, oldest in found}


def _queue(name: str, meaning: str, found: State) -> Iterator[Metric]:
    now = timezone.now()
    numbers = {state: float(number) for state, (number, _) in found.items()}
    ages = {state: max(0.0, (now - oldest).total_seconds()) if oldest else 0.0 for state, (_, oldest) in found.items()}
    yield _labelled(f"fdegym_{name}", f"{meaning}.", "state", numbers)
    yield _labelled(f"fdegym_{name}_oldest_seconds", f"{meaning}: age of the oldest.", "state", ages)


def _latencies() -> Iterator[Metric]:
    def ask_database() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")

    meaning = "How long %s took to answer, asked just now."
    yield _gauge("fdegym_database_seconds", meaning % "the database", _timed(ask_database))
    yield _gauge("fdegym_cache_seconds", meaning % "the cache", _timed(lambda: cache.get("ready")))


def _timed(ask: Callable[[], object]) -> float:
    begun = time.perf_counter()
    try:
        ask()
    except Exception:
        logger.warning("a figure could not be measured", exc_info=True)
        return float("nan")
    return time.perf_counter() - begun
