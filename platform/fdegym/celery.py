"""The Celery application of the worker. Tasks live in the features' ``tasks.py``; the schedule is in settings."""

# celery has no annotations:
# mypy: disallow-untyped-calls=false

import ctypes
import os
import signal

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fdegym.settings")

from celery import Celery
from celery.signals import beat_embedded_init

app = Celery("fdegym")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

PR_SET_PDEATHSIG = 1


@beat_embedded_init.connect  # type: ignore[untyped-decorator]
def end_with_the_worker(**_: object) -> None:
    """A killed worker takes its scheduler along: else one more would stay behind, and send messages, with each kill."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
