"""A worker that is told to stop finishes what it can, hands back what it cannot, and begins nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.deployment.deployed import DeployedSite
from tests.deployment.servers import Postgres, Redis

pytestmark = pytest.mark.sandbox
GRADED = {"state": "graded", "step": "graded", "attempts": "1", "grades": "1", "run": "graded"}


@pytest.fixture(scope="module")
def site(postgres: Postgres, redis: Redis, sandboxes_work: None) -> Iterator[DeployedSite]:
    running = DeployedSite(postgres, redis, "draining")
    try:
        yield running
    finally:
        running.remove()


def test_a_deploy_in_the_middle_of_a_grade_costs_it_no_attempt(site: DeployedSite) -> None:
    """However often it happens: attempts are for failures, and after three of them a submission is void."""
    site.environment["FDEGYM_DRAIN_S"] = "1"
    submission = site.submit(longer_s=3)
    site.start_worker()
    site.until_step(submission, "replay")
    site.tell_worker_to_stop()
    assert site.until_worker_ended() == 0
    row = site.row(submission)
    assert (row["state"], row["attempts"], row["grades"]) == ("queued", "0", "0"), site.log("worker")[-4000:]
    site.ask(f"delete from grading_sealedpart where submission_id = {submission}")
    site.ask(f"delete from grading_submission where id = {submission}")


def test_a_worker_told_to_stop_finishes_its_grade_and_leaves_the_next_to_another(site: DeployedSite) -> None:
    site.environment["FDEGYM_DRAIN_S"] = "100"
    being_graded = site.submit(wake_ups=0, longer_s=0.5)  # found by a sweep, which goes on while there is something
    site.start_worker()
    site.until_step(being_graded, "replay")
    site.tell_worker_to_stop()
    waiting = site.submit(wake_ups=0)
    assert site.until_worker_ended() == 0
    assert site.row(being_graded) == GRADED, site.log("worker")[-4000:]
    left = site.row(waiting)
    assert (left["state"], left["attempts"]) == ("queued", "0"), "it went on until the queue was empty"
