"""Which tasks may be taken by a host that has no keeper."""

from __future__ import annotations

from typing import Any

from fdegym.celery import app


def queue_of(task: str) -> str:
    routed: dict[str, Any] = app.amqp.router.route({}, task)
    return str(routed["queue"].name)


def test_grading_alone_leaves_the_host_of_the_keeper() -> None:
    """A run prepared where no keeper is would fail, and one of the sweeps would remove what others own."""
    app.loader.import_default_modules()
    ours = {name for name in app.tasks if not name.startswith("celery.")}
    assert {"fdegym.delivery.tasks.prepare", "fdegym.delivery.tasks.sweep_workspaces"} <= ours
    assert {name for name in ours if queue_of(name) == "grading"} == {"grading.tasks.grade_next", "grading.tasks.sweep"}
    assert {queue_of(name) for name in ours} == {"grading", "fdegym"}


def test_a_worker_that_is_told_nothing_takes_both() -> None:
    assert set(app.amqp.queues.consume_from) == {"fdegym", "grading"}
