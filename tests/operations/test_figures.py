"""The figures for Prometheus: who may read them, what they say, and that they never cost more."""

from __future__ import annotations

import json
import os
import socket
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from fdegym.lib import counts
from fdegym.operations import metrics
from fdegym.presence import keeping
from fdegym.presence.models import Process
from fdegym.runs import log
from fdegym.runs.models import RunState
from fdegym.runs.services import transition

TOKEN = "t" * 40


@pytest.fixture
def samples(db):
    """``samples()``: every sample as a scraper reads it, ``{(name, ((label, value), …)): number}``."""

    def read():
        families = text_string_to_metric_families(metrics.exposition().decode())
        return {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in families
            for sample in family.samples
        }

    return read


@pytest.fixture
def token(tmp_path, settings):
    from dataclasses import replace

    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    settings.ENVIRONMENT = replace(settings.ENVIRONMENT, metrics_token_file=path)
    return path


def test_for_everybody_but_operators_and_the_tokens_holder_there_are_no_figures(alice, olivia, visit, token):
    stranger = visit(None)
    assert stranger.get("/metrics/").status_code == 404
    assert visit(alice).get("/metrics/").status_code == 404
    assert stranger.get("/metrics/", headers={"Authorization": f"Bearer {TOKEN}x"}).status_code == 404
    assert stranger.get("/metrics/", headers={"Authorization": f"Basic {TOKEN}"}).status_code == 404
    assert stranger.get("/metrics/", headers={"Authorization": "Bearer "}).status_code == 404
    assert visit(olivia).get("/metrics/").status_code == 200
    answer = stranger.get("/metrics/", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")


def test_a_new_token_holds_at_once_and_an_empty_file_lets_nobody_in(visit, token):
    token.write_text("u" * 40)
    assert visit(None).get("/metrics/", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 404
    assert visit(None).get("/metrics/", headers={"Authorization": f"Bearer {'u' * 40}"}).status_code == 200
    token.write_text("\n")
    assert visit(None).get("/metrics/", headers={"Authorization": "Bearer "}).status_code == 404


def test_what_waits_is_told_with_the_age_of_the_oldest(alice, submit, samples, make_run):
    now = timezone.now()
    submit(alice, "queued", created_at=now - timedelta(minutes=10))
    submit(alice, "queued", created_at=now - timedelta(minutes=90))
    submit(alice, "grading")
    submit(alice, "graded", created_at=now - timedelta(days=9))
    make_run(alice, "first_delivery", state="preparing")
    found = samples()
    assert found["fdegym_submissions", (("state", "queued"),)] == 2
    assert found["fdegym_submissions", (("state", "grading"),)] == 1
    assert 90 * 60 <= found["fdegym_submissions_oldest_seconds", (("state", "queued"),)] < 100 * 60
    assert found["fdegym_runs", (("state", "preparing"),)] == 1
    assert found["fdegym_trials", (("state", "waiting"),)] == 0
    assert found["fdegym_keeper_up", ()] == 0  # there is none


def test_figures_cost_the_same_number_of_queries_however_many_runs_and_processes_there_are(alice, submit, samples):
    submit(alice)
    samples()
    with CaptureQueriesContext(
        connection,
    ) as few:
        samples()
    for number in range(15):
        submit(alice, ("queued", "graded", "void")[number % 3])
        Process.objects.create(kind="worker", host=f"host-{number}")
    with CaptureQueriesContext(connection) as many:
        samples()
    assert len(many) == len(few) <= 8


def test_contacts_charges_and_moves_are_counted_when_they_are_stored(
    alice, make_run, django_capture_on_commit_callbacks
):
    before = counts.totals()
    run = make_run(alice)
    with django_capture_on_commit_callbacks(execute=True):
        log.append(run.id, "contact.message", {"charge": "0.02", "text": "When do doors open?"})
        transition(run.id, RunState.SUBMITTED)
    fresh = counts.since(counts.totals(), before)
    assert fresh["fdegym_contacts_total", (("kind", "contact.message"),)] == 1
    assert fresh["fdegym_contact_charges_total", (("kind", "contact.message"),)] == pytest.approx(0.02)
    assert fresh["fdegym_run_moves_total", (("state", "submitted"),)] == 1


def test_durations_read_as_a_histogram(samples, db):
    told = counts.Totals()
    for seconds in (0.01, 0.07, 400.0):
        within = next((str(limit) for limit in counts.SECONDS if seconds <= limit), "inf")
        key = ("fdegym_desk_reply_seconds", (("operation", "say"), ("le", within)))
        told[key] = told.get(key, 0) + 1
    told["fdegym_desk_reply_seconds_sum", (("operation", "say"),)] = 400.08
    Process.objects.create(kind="desk", counts=json.loads(json.dumps(counts.as_rows(told))))
    found = samples()
    of = (("operation", "say"),)
    assert found["fdegym_desk_reply_seconds_bucket", (("le", "0.05"), *of)] == 1
    assert found["fdegym_desk_reply_seconds_bucket", (("le", "0.1"), *of)] == 2
    assert found["fdegym_desk_reply_seconds_bucket", (("le", "+Inf"), *of)] == 3
    assert found["fdegym_desk_reply_seconds_count", of] == 3
    assert found["fdegym_desk_reply_seconds_sum", of] == pytest.approx(400.08)


# ---- processes come and go


@pytest.fixture
def counted(monkeypatch):
    """``counted["x"] = 3``: what the process of this test has counted."""
    numbers = {}
    monkeypatch.setattr(counts, "totals", lambda: {(name, ()): float(number) for name, number in numbers.items()})
    return numbers


def test_what_a_process_counted_is_kept_when_it_ends_or_is_killed(db, counted):
    counted["done"] = 3
    ending, killed = keeping.Presence("worker"), keeping.Presence("worker")
    ending.thread = killed.thread = _NoThread()
    ending.tell()
    killed.tell()
    assert keeping.counted() == {("done", ()): 6}
    ending.leave()
    Process.objects.filter(pk=killed.id).update(seen_at=timezone.now() - timedelta(minutes=11))
    keeping.put_away()
    assert [row.kind for row in Process.objects.all()] == ["past"]
    assert keeping.counted() == {("done", ()): 6}


def test_a_process_of_this_host_that_is_none_any_more_is_put_away_soon(db):
    now, host = timezone.now(), socket.gethostname()[:120]
    rows = {
        "ended": Process.objects.create(kind="site", host=host, pid=2**22 + 1, seen_at=now - timedelta(seconds=40)),
        "elsewhere": Process.objects.create(
            kind="site", host="h-7", pid=2**22 + 1, seen_at=now - timedelta(seconds=40)
        ),
        "hangs": Process.objects.create(kind="site", host=host, pid=os.getpid(), seen_at=now - timedelta(minutes=5)),
    }
    keeping.put_away()
    left = set(Process.objects.exclude(kind="past").values_list("pk", flat=True))
    assert left == {rows["elsewhere"].pk, rows["hangs"].pk}


def test_a_process_that_was_frozen_for_long_counts_nothing_twice(db, counted):
    frozen = keeping.Presence("site")
    counted["done"] = 3
    frozen.tell()
    Process.objects.filter(pk=frozen.id).update(seen_at=timezone.now() - timedelta(minutes=11))
    keeping.put_away()
    counted["done"] = 5
    frozen.tell()
    assert keeping.counted() == {("done", ()): 5}
    counted["done"] = 6
    frozen.tell()
    assert keeping.counted() == {("done", ()): 6}


class _NoThread:
    def join(self, timeout): ...

    def is_alive(self):
        return False
