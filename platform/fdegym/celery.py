"""The Celery application of the worker. Tasks live in the features' ``tasks.py``; the schedule is in settings."""

# celery has no annotations:
# mypy: disallow-untyped-calls=false

import ctypes
import logging
import os
import signal
import threading
import time
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
    worker_ready,
    worker_shutting_down,
)
from celery.worker import state

from fdegym.lib import draining, logs

app = Celery("fdegym")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

logger = logging.getLogger(__name__)
PR_SET_PDEATHSIG = 1
LOOK_AT_SCHEDULER_EVERY_S = 1.0


@setup_logging.connect  # type: ignore[untyped-decorator]
def log_as_the_others_do(**_: object) -> None:
    """Django has set up logging; that somebody listens here keeps Celery from a shape of its own."""


@celeryd_init.connect  # type: ignore[untyped-decorator]
def name_the_worker(**_: object) -> None:
    logs.name_process("worker")


@worker_process_init.connect  # type: ignore[untyped-decorator]
def say_that_it_lives(**_: object) -> None:
    """Only those that work say so: the process above them must not open the database, they would inherit its lines.

    One that takes from the queue of grading alone is no ``worker``: with such, nothing that needs the keeper is done.
    """
    from fdegym.presence import keeping

    keeping.begin("worker" if app.conf.task_default_queue in app.amqp.queues.consume_from else "grader")


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


@worker_ready.connect  # type: ignore[untyped-decorator]
def end_with_the_scheduler(sender: Any, **_: object) -> None:
    """A scheduler that dies alone is not started again by Celery, and from then on nothing would be found that no message
    announced. So the worker ends in order, and whoever looks after it starts both anew.
    """
    scheduler = sender.controller.beat
    if scheduler is not None:
        threading.Thread(target=end_after, args=[scheduler], name="end with the scheduler", daemon=True).start()


def end_after(scheduler: Any) -> None:
    """Wait for the scheduler's end; unless the worker is ending anyway, have it end too."""
    while scheduler.is_alive():
        time.sleep(LOOK_AT_SCHEDULER_EVERY_S)
    if state.should_stop is None and state.should_terminate is None:
        logger.error("the scheduler has died; the worker ends, to be started again with a new one")
        os.kill(os.getpid(), signal.SIGTERM)
