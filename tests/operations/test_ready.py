"""Health and readiness: who is told what, and that nothing can make the page hang."""

from __future__ import annotations

import threading

import pytest

from fdegym.operations import readiness
from fdegym.operations.readiness import Checked, Readiness


@pytest.fixture
def found(monkeypatch):
    """What the checks come to, without asking anything."""
    rows = [Checked("database", ""), Checked("keeper", "The keeper does not answer.")]
    monkeypatch.setattr(readiness, "look", lambda: rows)
    return rows


def test_a_stranger_learns_whether_the_site_is_ready_and_nothing_else(visit, found):
    answer = visit(None).get("/ready/")
    assert (answer.status_code, answer.content) == (503, b"not ready\n")
    found[1] = Checked("keeper", "")
    answer = visit(None).get("/ready/")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


def test_an_account_that_is_no_operators_is_a_stranger(alice, visit, found):
    assert visit(alice).get("/ready/").content == b"not ready\n"


def test_operators_and_this_machine_itself_read_what_is_missing(olivia, visit, client, found):
    for browser in (visit(olivia), client):
        answer = browser.get("/ready/", headers={"Host": "localhost"})
        assert answer.status_code == 503
        assert answer.json() == {
            "ready": False,
            "checks": {"database": "ok", "keeper": "The keeper does not answer."},
        }


def test_what_comes_through_a_proxy_of_this_machine_is_a_stranger(client, found):
    answer = client.get("/ready/", headers={"Host": "localhost", "X-Forwarded-For": "192.0.2.7"})
    assert answer.content == b"not ready\n"


def test_the_process_answers_whatever_else_does_not(client):
    """Without a database: a test that was given none fails when it asks for one."""
    assert client.get("/health/").content == b"ok\n"


def test_a_check_that_hangs_keeps_no_page_and_takes_one_thread_however_often_one_asks():
    go_on, asked = threading.Event(), []

    def hang():
        asked.append(1)
        go_on.wait(60)
        return ""

    ready = Readiness({"keeper": hang, "disk": lambda: ""}, limit_s=0.05)
    try:
        for _ in range(3):
            assert [(check.name, check.ok) for check in ready.look()] == [("keeper", False), ("disk", True)]
        assert "No answer within" in ready.look()[0].words
        assert len(asked) == 1
    finally:
        go_on.set()


def test_what_breaks_is_said_by_its_kind_and_not_by_what_it_says():
    def broken():
        raise OSError("postgres://alice:hunter2@db/name")

    (check,) = Readiness({"database": broken}).look()
    assert not check.ok
    assert check.words.startswith("The database does not answer.")
    assert "hunter2" not in check.words


@pytest.mark.django_db(transaction=True)
def test_every_check_of_a_site_without_its_processes_ends_in_words_that_name_what_to_start(settings, tmp_path):
    settings.KEEPER_SOCKET = tmp_path / "k.sock"
    settings.DESK_DIR = tmp_path
    words = {check.name: check.words for check in Readiness(readiness.CHECKS, limit_s=60).look()}
    assert {name for name, said in words.items() if not said} >= {"database", "migrations", "broker", "disk"}
    assert "Start this host's keeper" in words["keeper"]
    assert "desk" in words["desk"]
    assert "Start the worker service" in words["workers"]
    assert "manage.py prepare" in words["worlds"]


def test_workers_that_are_given_nothing_are_not_ready(db):
    from datetime import timedelta

    from django.utils import timezone

    from fdegym.presence.models import Process

    long_ago = timezone.now() - timedelta(minutes=5)
    row = Process.objects.create(kind="worker", started_at=long_ago, did_at=long_ago)
    assert "scheduler" in readiness.check_workers()
    Process.objects.filter(pk=row.pk).update(doing="grading.tasks.grade_next")
    assert readiness.check_workers() == ""
    Process.objects.filter(pk=row.pk).update(doing="", did_at=timezone.now())
    assert readiness.check_workers() == ""
    Process.objects.filter(pk=row.pk).update(seen_at=long_ago)
    assert "No worker" in readiness.check_workers()
