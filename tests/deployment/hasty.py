"""The worker's own application with shorter clocks: a lease of 4 s instead of 30, swept every 2 s instead of 10.

``celery -A tests.deployment.hasty worker -B``: what a test waits for comes sooner, and nothing else is different.
"""

from datetime import timedelta

import django

from fdegym.celery import app as app

django.setup()

from grading import queue  # noqa: E402 - Django comes first

queue.LEASE, queue.HEARTBEAT_S, queue.RETRY_PAUSE = timedelta(seconds=4), 0.8, timedelta(seconds=0.5)
app.conf.beat_schedule = {"sweep": {"task": "grading.tasks.sweep", "schedule": 2.0}}
