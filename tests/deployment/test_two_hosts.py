"""Workers on hosts of their own, which share PostgreSQL, Redis and the scenarios with the site, and nothing else.

Collected only for root, who alone can give them networks; `make test` as root runs this file beside all others.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.deployment.conftest import need
from tests.deployment.deployed import DeployedSite
from tests.deployment.hosts import REDIS_PORT, Host, WorkerHost, as_the_user, can_be_made
from tests.deployment.servers import Postgres, Redis, postgres_programs
from tests.waiting import until

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(900)]
GRADED_ONCE = {"state": "graded", "step": "graded", "grades": "1", "run": "graded"}
SECRET = "known-to-every-host-of-this-site-" + "k" * 40


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Host, Postgres, Redis]]:
    """The host of the servers; the site, on this one, reaches them by their sockets, as it would with one host."""
    programs = postgres_programs()
    need(programs and shutil.which("redis-server"), "PostgreSQL and Redis")
    need(can_be_made(), "the right to make networks")
    host, postgres, redis = Host("servers"), Postgres(programs), Redis(REDIS_PORT)  # type: ignore[arg-type]
    try:
        postgres.listen()
        for server in (postgres, redis):
            server.within = host.within
            server.start()
        yield host, postgres, redis
    finally:
        for server in (postgres, redis):
            server.remove()
        host.remove()


@pytest.fixture(scope="module")
def site(servers: tuple[Host, Postgres, Redis], sandboxes_work: None) -> Iterator[DeployedSite]:
    _, postgres, redis = servers
    running = DeployedSite(postgres, redis, "several", within=as_the_user(), FDEGYM_SECRET_KEY=SECRET)
    yield running
    running.remove()


@pytest.fixture(scope="module")
def host_a(servers: tuple[Host, Postgres, Redis], site: DeployedSite) -> Iterator[WorkerHost]:
    host = WorkerHost("host-a", 1, servers[0], site)
    yield host
    host.remove()


@pytest.fixture(scope="module")
def host_b(servers: tuple[Host, Postgres, Redis], site: DeployedSite) -> Iterator[WorkerHost]:
    host = WorkerHost("host-b", 2, servers[0], site)
    yield host
    host.remove()


def grades(site: DeployedSite, submission: int, host: WorkerHost) -> bool:
    """Whether a worker of the host has the lease."""
    return site.ask(f"select lease_owner from grading_submission where id = {submission}").startswith(f"{host.name}/")


def test_a_host_cut_off_in_the_middle_of_a_grade_is_replaced_and_writes_nothing_when_it_is_back(
    site: DeployedSite, host_a: WorkerHost, host_b: WorkerHost
) -> None:
    """FC-88, FC-92, FC-93: each builds the world itself, and gets what was handed in out of the database."""
    host_a.start_worker()
    submission = site.submit(longer_s=1.0)
    site.until_step(submission, "replay")
    assert grades(site, submission, host_a)
    sealed = site.ask(f"select sealed_path from grading_submission where id = {submission}")
    assert Path(sealed).is_file()
    assert not host_a.sees(sealed)
    host_a.cut()
    host_b.start_worker("-B", "-s", str(host_b.var / "beat-schedule"))
    until(lambda: grades(site, submission, host_b), "the other host takes it over", within_s=90, every_s=0.5)
    host_a.join_again()
    site.until_graded(submission)
    assert site.row(submission) == GRADED_ONCE | {"attempts": "2"}, host_b.log()
    until(lambda: "this one's result is dropped" in host_a.log(), host_a.log, within_s=120)
    assert site.row(submission) == GRADED_ONCE | {"attempts": "2"}
    added = "select count(*) from runs_runevent where kind = 'grade.added'"
    assert site.ask(added) == "1"
    assert site.ask("select count(*) from grading_sealedpart") == "0"
    for host in (host_a, host_b):
        assert list(host.var.glob("worlds/*/meta.json"))
        assert not list(host.var.rglob("sealed-*")), "what was fetched is left behind"
    told = "select distinct kind from presence_process"
    assert site.ask(told) == "grader", "workers without a keeper pass for what prepares runs"
    host_b.stop()
    afterwards = site.submit()
    site.until_graded(afterwards)
    assert site.row(afterwards) == GRADED_ONCE | {"attempts": "1"}, "the host that was away grades again"


def test_what_a_vanished_host_had_locked_is_free_again_without_it(site: DeployedSite, host_a: WorkerHost) -> None:
    """A machine that loses its network in the middle of a transaction never says so; its locks must not wait for it."""
    in_transaction = "select count(*) from pg_stat_activity where state = 'idle in transaction'"
    host_a.lock_a_row()
    assert site.ask(in_transaction) == "1"
    host_a.cut()
    try:
        until(lambda: site.ask(in_transaction) == "0", "the server ends the silent session", within_s=300, every_s=1)
    finally:
        host_a.join_again()
