"""Whether everything is there that serving needs: for each thing nothing, or the sentence that helps.

Every check has its time; one that hangs says so and is not asked again until it has come back, so that no number of
questions holds more than one thread for each.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import timedelta

from celery import current_app
from django.conf import settings
from django.core.cache import cache
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from fdegym.catalog.scenarios import get_scenario, scenarios
from fdegym.lib.errors import FdegymError
from fdegym.presence import keeping
from grading.worlds import deployment_runtime, world_is_built
from stakeholders.services import desk_answers
from workspaces.services import keeper_answers

logger = logging.getLogger(__name__)

LIMIT_S = 4.0  #: for all checks together
LEAST_FREE_MB = 500  #: as ``manage.py prepare``: below it runs would stop in the middle
LONGEST_IDLE = timedelta(minutes=2)  #: of a worker: there is a sweep every ten seconds


@dataclass(frozen=True, slots=True)
class Checked:
    """One dependency. ``words`` is empty where it is as it should be."""

    name: str
    words: str

    @property
    def ok(self) -> bool:
        return not self.words


def check_database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


_migrated = False  #: once true it stays: this process has the code it began with


def check_migrations() -> str:
    global _migrated
    if not _migrated:
        executor = MigrationExecutor(connection)
        missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
        if missing:
            return f"{missing} migrations are not applied: run `python manage.py prepare`, then restart the processes."
        _migrated = True
    return ""


def check_cache() -> str:
    mark = f"{os.getpid()}"
    cache.set("ready", mark, 60)
    if cache.get("ready") is None:
        return "The cache keeps nothing: tickets for terminals are lost. Look at Redis, or run `manage.py prepare`."
    return ""


def check_broker() -> str:
    if settings.ENVIRONMENT.redis_url:
        with current_app.connection_for_write() as broker:
            broker.ensure_connection(max_retries=0, timeout=2, reraise_as_library_errors=False)
        return ""
    folder = settings.VAR / "queue"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"Messages for workers cannot be written to {folder}. Work is found by their sweep, later."
    return ""


def check_keeper() -> str:
    keeper_answers()
    if settings.SANDBOX_RUNTIME == "docker":
        report = deployment_runtime().report()
        return "" if report.usable else f"Nothing is graded on this host: {report.problem}"
    return ""


def check_desk() -> str:
    desk_answers()
    return ""


def check_workers() -> str:
    living = keeping.living("worker")
    if not living:
        return "No worker has been heard of for a minute: nothing is prepared or tried. Start the worker service."
    since = timezone.now() - LONGEST_IDLE
    if not any(worker.doing or (worker.did_at or worker.started_at) > since for worker in living):
        return (
            "Workers live, but none has been given a task for two minutes: the scheduler (`celery worker -B`) or the "
            "broker does not reach them. Restart the worker service."
        )
    return ""


def check_disk() -> str:
    free_mb = shutil.disk_usage(settings.VAR).free // 2**20
    if free_mb >= LEAST_FREE_MB:
        return ""
    return f"Only {free_mb} MB are free where FDEGYM_VAR lies; {LEAST_FREE_MB} MB are needed. Free some."


def check_worlds() -> str:
    missing = unbuilt_worlds()
    if not missing:
        return ""
    return f"{len(missing)} worlds of offered scenarios are not built: run `python manage.py prepare`."


def unbuilt_worlds() -> list[tuple[str, str]]:
    """(scenario, task) of what is offered and has no world here."""
    every = [get_scenario(card.id) for card in scenarios()]
    return [
        (scenario.id, task)
        for scenario in every
        for task in scenario.config.offered
        if not world_is_built(scenario, task)
    ]


CHECKS: Mapping[str, Callable[[], str]] = {
    "database": check_database,
    "migrations": check_migrations,
    "cache": check_cache,
    "broker": check_broker,
    "keeper": check_keeper,
    "desk": check_desk,
    "workers": check_workers,
    "disk": check_disk,
    "worlds": check_worlds,
}
#: What is said when a check fails with an error of its own instead of an answer.
FAILED = {
    "database": "The database does not answer. Pages say so after five seconds and nothing is lost; look at its server.",
    "migrations": "Which migrations are applied cannot be read: first the database.",
    "cache": "The cache does not answer: terminals cannot be opened until it does. Look at Redis or the database.",
    "broker": "The broker does not answer: work is found by the workers' sweep, later. Look at Redis.",
    "keeper": "The keeper does not answer: no workspace opens, terminals stand still. Start this host's keeper service.",
    "desk": "The desk does not answer: the customers' people are silent. Start this host's desk service.",
    "workers": "Whether workers live cannot be read: first the database.",
    "disk": "The directory of FDEGYM_VAR cannot be looked at.",
    "worlds": "The scenarios cannot be read: `python manage.py lint` says why.",
}

#: What is said of those that may only be slow: nothing of theirs is known to be wrong.
SLOW = {
    "worlds": "The scenarios are being read for the first time by this process, or the machine is busy: ask again.",
    "disk": "The disk of FDEGYM_VAR does not answer: look at the machine or at the server that it is mounted from.",
}


class Readiness:
    """The checks, each in a thread of its own."""

    def __init__(self, checks: Mapping[str, Callable[[], str]], limit_s: float = LIMIT_S) -> None:
        self._checks, self._limit_s = checks, limit_s
        self._threads = ThreadPoolExecutor(max(1, len(checks)), thread_name_prefix="ready")
        self._asked: dict[str, Future[str]] = {}
        self._lock = threading.Lock()

    def look(self) -> list[Checked]:
        """All checks, within the limit."""
        with self._lock:
            for name, check in self._checks.items():
                if name not in self._asked or self._asked[name].done():
                    self._asked[name] = self._threads.submit(_checked, name, check)
            asked = dict(self._asked)
        wait(asked.values(), timeout=self._limit_s)
        return [Checked(name, self._words(name, answer)) for name, answer in asked.items()]

    def _words(self, name: str, answer: Future[str]) -> str:
        if answer.done():
            return answer.result()
        return f"{SLOW.get(name) or FAILED.get(name, 'It does not answer.')} (No answer within {self._limit_s:g} s.)"


def _checked(name: str, check: Callable[[], str]) -> str:
    try:
        return check()
    except FdegymError:
        return FAILED[name]
    except Exception as problem:  # whatever a broken dependency raises is an answer
        logger.warning("%s is not ready", name, exc_info=True)
        return f"{FAILED.get(name, 'It fails.')} ({type(problem).__name__})"
    finally:
        connections.close_all()


_readiness: Readiness | None = None


def look() -> list[Checked]:
    """Every dependency of this process, now."""
    global _readiness
    if _readiness is None:
        _readiness = Readiness(CHECKS)
    return _readiness.look()
