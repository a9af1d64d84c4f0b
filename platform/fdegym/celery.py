"""The Celery application of the worker. Tasks live in the features' ``tasks.py``; the schedule is in settings."""

# celery has no annotations:
# mypy: disallow-untyped-calls=false

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fdegym.settings")

from celery import Celery

app = Celery("fdegym")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
