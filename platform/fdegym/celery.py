"""The Celery application of the worker. Tasks live in the features' ``tasks.py``; the schedule is in settings."""

# celery has no annotations:
# mypy: disallow-untyped-calls=false

import ctypes
import os
import signal
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fdegym.settings")

from celery import Celery
from celery.signals import (
    beat_embedded_init,
    celeryd_init,
    setup_logging,
    task_postrun,
    task_prerun,
    worker_process_init,
    worker_process_shutdown,
    worker_shutting_down,
)

from fdegym.lib import draining, logs

app = Celery("fdegym")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

PR_SET_PDEATHSIG = 1


@setup_logging.connect  # type: ignore[untyped-decorator]
def log_as_the_others_do(**_: object) -> None:
    """Django has set up logging; that somebody listens here keeps Celery from a shape of its own."""


@celeryd_init.connect  # type: ignore[untyped-decorator]
def name_the_worker(**_: object) -> None:
    logs.name_process("worker")


@worker_process_init.connect  # type: ignore[untyped-decorator]
def say_that_it_lives(**_: object) -> None:
    """Only those that work say so: the process above them must not open the database, they would inherit its lines."""
    from fdegym.presence import keeping

    keeping.begin("worker")


@worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def say_that_it_leaves(**_: object) -> None:
    from fdegym.presence import keeping

    keeping.leave()


@worker_process_init.connect  # type: ignore[untyped-decorator]
def leave_in_order(**_: object) -> None:
    draining.leave_when_asked()


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def finish_or_hand_back(**_: object) -> None:
    """Told to stop: its children finish what they can within the time, and hand back the rest."""
    draining.begin(app.conf.worker_drain_s)


@task_prerun.connect  # type: ignore[untyped-decorator]
def take_up(task: Any, **_: object) -> None:
    from fdegym.presence import keeping

    logs.bind_anew()
    keeping.note_task(task.name)


@task_postrun.connect  # type: ignore[untyped-decorator]
def put_down(**_: object) -> None:
    from fdegym.presence import keeping

    keeping.note_task("")


@beat_embedded_init.connect  # type: ignore[untyped-decorator]
def end_with_the_worker(**_: object) -> None:
    """A killed worker takes its scheduler along: else one more would stay behind, and send messages, with each kill."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
