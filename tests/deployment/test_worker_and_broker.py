"""A real worker, a real PostgreSQL and a real Redis, and what goes wrong between them: one grade, whatever it is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.deployment.deployed import DeployedSite, get
from tests.deployment.servers import Postgres, Redis
from tests.waiting import until

pytestmark = pytest.mark.sandbox
_numbers = itertools.count(1)
GRADED_ONCE = {"state": "graded", "step": "graded", "grades": "1", "run": "graded"}


@pytest.fixture(scope="module")
def site(postgres: Postgres, redis: Redis, sandboxes_work: None) -> Iterator[DeployedSite]:
    running = DeployedSite(postgres, redis, f"site_{next(_numbers)}")
    try:
        running.start_worker()
        yield running
    finally:
        running.remove()


def received(site: DeployedSite) -> int:
    return site.log("worker").count("Task grading.tasks.grade_next")


def test_a_message_delivered_five_times_is_one_grade_at_the_first_attempt(site: DeployedSite) -> None:
    """FC-92: the copies arrive while the first is being worked on."""
    before = received(site)
    submission = site.submit(wake_ups=5, longer_s=0.1)
    site.until_graded(submission)
    until(lambda: received(site) >= before + 5, "all five copies are taken up")
    assert site.row(submission) == GRADED_ONCE | {"attempts": "1"}


def test_a_message_that_the_broker_gives_out_again_during_the_grade_is_one_grade(site: DeployedSite) -> None:
    """FC-92: as Redis does with what is not acknowledged within its time, which is shorter here than the grade."""
    for _ in range(6):  # the sweep may come first and grade, then the message has nothing to do and is acknowledged
        before = site.log("worker").count("Task hasty.grade_next_acknowledged_late")
        submission = site.submit(task="hasty.grade_next_acknowledged_late", longer_s=0.4)
        site.until_graded(submission)
        assert site.row(submission) == GRADED_ONCE | {"attempts": "1"}
        if site.log("worker").count("Task hasty.grade_next_acknowledged_late") > before + 2:
            return
    raise AssertionError("it never came more than once")


def test_a_worker_woken_before_the_submission_is_committed_grades_it_once_it_is(site: DeployedSite) -> None:
    """A message may be faster than the commit: the worker finds nothing to grade, and its sweep finds it later."""
    submission = site.submit(wake_ups=0, worker_log=str(site.directory / "worker.log"))
    site.until_graded(submission)
    assert site.row(submission) == GRADED_ONCE | {"attempts": "1"}


def test_a_submission_whose_wake_up_was_lost_is_found_by_the_sweep(site: DeployedSite) -> None:
    submission = site.submit(wake_ups=0)
    site.until_graded(submission)
    assert site.row(submission) == GRADED_ONCE | {"attempts": "1"}


def test_a_worker_killed_during_a_grade_gives_its_result_exactly_once(site: DeployedSite) -> None:
    """FC-88, FC-93: the message is gone with the worker; the next worker's sweep finds the lease run out."""
    submission = site.submit(longer_s=0.3)
    site.until_step(submission, "replay")
    site.kill_worker()
    assert site.row(submission)["grades"] == "0"
    site.start_worker()
    site.until_graded(submission)
    assert site.row(submission) == GRADED_ONCE | {"attempts": "2"}


def test_redis_gone_during_a_grade_and_back_without_memory_loses_nothing(site: DeployedSite) -> None:
    """What is graded goes on without the broker; what is submitted meanwhile is found when it is back."""
    graded_meanwhile = site.submit(longer_s=0.2)
    site.until_step(graded_meanwhile, "replay")
    site.redis.stop()
    try:
        submitted_meanwhile = site.submit()  # which does not wait for a broker that is away
        site.until_graded(graded_meanwhile)
    finally:
        site.redis.start()
    assert site.row(graded_meanwhile) == GRADED_ONCE | {"attempts": "1"}
    site.until_graded(submitted_meanwhile)
    assert site.row(submitted_meanwhile) == GRADED_ONCE | {"attempts": "1"}
    afterwards = site.submit()
    site.until_graded(afterwards)


def test_postgresql_restarted_during_a_grade_gives_one_grade(site: DeployedSite) -> None:
    submission = site.submit(longer_s=0.3)
    site.until_step(submission, "replay")
    site.postgres.restart()
    site.until_graded(submission)
    row = site.row(submission)
    assert row.pop("attempts") in ("1", "2")
    assert row == GRADED_ONCE


def test_a_page_without_the_database_is_a_clear_one_and_comes_back_with_it(site: DeployedSite) -> None:
    """The database fails: a clear error page, no half-written run."""
    page = f"{site.start_web()}/leaderboard/"
    status, text = get(page)
    assert status == 200, text[:2000]
    site.postgres.stop()
    try:
        status, text = get(page)
    finally:
        site.postgres.start()
    assert status in (500, 503)
    assert "is kept" in text
    assert "Traceback" not in text
    until(lambda: get(page)[0] == 200, "the page is there again", within_s=60)
