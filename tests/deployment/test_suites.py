"""The suites that touch the database or the broker, once more: on PostgreSQL and Redis, by the same code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deployment.servers import Postgres, Redis
from tests.sampling import commit, sampled

ROOT = Path(__file__).resolve().parents[2]
ALWAYS = ("grading", "killed", "at once")  #: where two databases differ most; of the others two with every commit
SUITES = {
    "runs": ["tests/runs"],
    "grading": ["tests/grading/test_queue.py", "tests/grading/test_grades.py", "tests/grading/test_contacts.py"],
    "killed": [
        # in the middle of a replay, and inside the transaction that writes the grade
        "tests/grading/test_worker_killed.py::test_a_worker_killed_in_any_phase_is_replaced_when_its_lease_is_over[replay]",
        "tests/grading/test_worker_killed.py::test_a_worker_killed_in_any_phase_is_replaced_when_its_lease_is_over[writing]",
    ],
    "people": [
        "tests/stakeholders/test_exchange.py",
        "tests/stakeholders/test_feed.py",
        "tests/stakeholders/test_audit.py",
    ],
    "site": [
        "tests/site/test_site_rights.py",
        "tests/site/test_site_board.py",
        "tests/site/test_site_ranking.py",
        "tests/site/test_site_outcomes.py",
        "tests/site/test_site_accounts.py",
    ],
    "audit": [
        "tests/audit/test_audit_of_the_grade.py",
        "tests/leaderboard/test_first_runs_rank.py::test_two_tabs_that_begin_at_once_at_two_levels_begin_one_run",
    ],
    "at once": ["tests/deployment/test_at_once.py"],
}


def run_suites(arguments: list[str], database_url: str, redis_url: str) -> subprocess.CompletedProcess[str]:
    """pytest in a process of its own, whose settings see these servers."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("FDEGYM_", "PYTEST_"))}
    servers = {"FDEGYM_TEST_DATABASE_URL": database_url, "FDEGYM_TEST_REDIS_URL": redis_url}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=inherited | servers, capture_output=True, text=True, timeout=800, check=False
    )


@pytest.mark.timeout(900)
def test_the_suites_pass_on_postgresql_and_redis(postgres: Postgres, redis: Redis) -> None:
    """In one process: to begin one, and to make its tables, takes longer than most of its tests."""
    areas = [*ALWAYS, *sampled(sorted(set(SUITES) - set(ALWAYS)), 2, seed=commit())]
    paths = [path for area in areas for path in SUITES[area]]
    done = run_suites(paths, postgres.url("suites"), redis.url)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert int((re.search(r"(\d+) passed", done.stdout) or ["0", "0"])[1]) > len(paths)
    assert "skipped" not in done.stdout.splitlines()[-1], done.stdout[-2000:]


def test_the_suites_that_are_repeated_exist() -> None:
    for paths in SUITES.values():
        for path in paths:
            assert (ROOT / path.partition("::")[0]).exists(), path
