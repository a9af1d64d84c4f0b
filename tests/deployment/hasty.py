"""The worker's own application with shorter clocks: a lease of 4 s instead of 30, swept every 2 s instead of 10.

``celery -A tests.deployment.hasty worker -B``: what a test waits for comes sooner, and nothing else is different. What is
not acknowledged Redis gives to the next after a second, not after an hour. The product's tasks are acknowledged before
they begin; for one that comes twice there is ``hasty.grade_next_acknowledged_late``.
"""

from datetime import timedelta

import django

from fdegym.celery import app as app

django.setup()

from grading import queue  # noqa: E402 - Django comes first
from grading.tasks import grade_next  # noqa: E402

queue.LEASE, queue.HEARTBEAT_S, queue.RETRY_PAUSE = timedelta(seconds=4), 0.8, timedelta(seconds=0.5)
app.conf.beat_schedule = {"sweep": {"task": "grading.tasks.sweep", "schedule": 2.0}}
app.conf.broker_transport_options = {
    **app.conf.broker_transport_options,
    "visibility_timeout": 1,
    "unacked_restore_interval": 1,
    "unacked_restore_throttle": 1,
}


@app.task(name="hasty.grade_next_acknowledged_late", acks_late=True)
def grade_next_acknowledged_late() -> None:
    grade_next()
