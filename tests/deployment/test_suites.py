"""What touches the database or the broker, once more: on PostgreSQL and Redis, by the same code.

Tests that say ``backend`` are repeated with every commit: races, the queue, sockets, statistics of many runs. Of the suites
below one is, in turn. What runs in sandboxes is tried on both runtimes where it stands; it knows no database.
"""

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
MARK = "pytest.mark.backend"
SUITES = {
    "runs": ["tests/runs"],
    "grades": ["tests/grading/test_grades.py", "tests/grading/test_contacts.py"],
    "people": [
        "tests/stakeholders/test_exchange.py",
        "tests/stakeholders/test_feed.py",
        "tests/stakeholders/test_audit.py",
    ],
    "site": [
        "tests/site/test_site_rights.py",
        "tests/site/test_site_board.py",
        "tests/site/test_site_outcomes.py",
        "tests/site/test_site_accounts.py",
    ],
    "audit": ["tests/audit/test_audit_of_the_grade.py", "tests/leaderboard/test_first_runs_rank.py"],
}


def marked() -> list[str]:
    """Files with tests of that mark, found by their text: to import all others takes longer than these run."""
    files = sorted(path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__))
    return [str(path.relative_to(ROOT)) for path in files if MARK in path.read_text()]


def run_suites(arguments: list[str], database_url: str, redis_url: str) -> subprocess.CompletedProcess[str]:
    """pytest in a process of its own, whose settings see these servers."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("FDEGYM_", "PYTEST_"))}
    servers = {"FDEGYM_TEST_DATABASE_URL": database_url, "FDEGYM_TEST_REDIS_URL": redis_url}
    plugins = ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "tests.deployment.repeating"]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=inherited | servers, capture_output=True, text=True, timeout=800, check=False
    )


@pytest.mark.timeout(900)
def test_the_suites_pass_on_postgresql_and_redis(postgres: Postgres, redis: Redis) -> None:
    """In one process: to begin one, and to make its tables, takes longer than most of its tests."""
    whole = [path for area in sampled(SUITES, 1, seed=commit()) for path in SUITES[area]]
    paths = sorted({*marked(), *whole})
    done = run_suites([*paths, *(f"--whole={path}" for path in whole)], postgres.url("suites"), redis.url)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert int((re.search(r"(\d+) passed", done.stdout) or ["0", "0"])[1]) > len(paths)
    assert "skipped" not in done.stdout.splitlines()[-1], done.stdout[-2000:]


def test_the_suites_that_are_repeated_exist() -> None:
    for paths in SUITES.values():
        for path in paths:
            assert (ROOT / path).exists(), path
