"""What is stuck is found with its reason, and what an operator does about it helps, is checked anew and is written down."""

from __future__ import annotations

import time
import uuid
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from fdegym.delivery.models import TrialRun
from fdegym.lib.errors import ServiceUnavailable
from fdegym.operations import acts, stuck
from fdegym.operations.models import OperatorAct
from fdegym.presence.models import Process
from fdegym.runs import log
from fdegym.runs.models import Run, RunEvent
from grading.queue import LeaseLost, heartbeat

LONG_AGO = timedelta(hours=3)


@pytest.fixture(autouse=True)
def keeper(monkeypatch):
    """The keeper of these tests: ``keeper["workspaces"]`` and what it was told to do."""
    told = {"workspaces": [], "stopped": [], "destroyed": []}
    monkeypatch.setattr(stuck, "keeper_workspaces", lambda: told["workspaces"])
    monkeypatch.setattr(stuck, "keeper_figures", lambda: {"idle_stop_s": 3600.0})
    monkeypatch.setattr(stuck, "unbuilt_worlds", list)
    monkeypatch.setattr(acts, "keeper_workspaces", lambda: told["workspaces"])
    monkeypatch.setattr(acts, "stop_workspace", told["stopped"].append)
    monkeypatch.setattr(acts, "destroy_workspace", told["destroyed"].append)
    return told


@pytest.fixture
def do(olivia, visit):
    """``do(act, subject)``: what the page says after it."""

    def doing(name, subject):
        browser = visit(olivia)
        answer = browser.post(reverse("operations-act", args=[name, str(subject)]), {"back": reverse("operations-log")})
        assert answer.headers["Location"] == reverse("operations-log")
        return browser.get(answer.headers["Location"]).content.decode()

    return doing


def things():
    return {(thing.act, thing.subject): thing for thing in stuck.stuck_things()}


def acted(run):
    return [event.payload["act"] for event in log.events(run.id, kinds=[acts.ACTED])]


def test_a_site_that_works_has_nothing_stuck(alice, submit, make_run):
    submit(alice, "queued", created_at=timezone.now())
    submit(alice, "grading", created_at=timezone.now(), lease_until=timezone.now() + timedelta(seconds=30))
    submit(alice, "graded")
    make_run(alice, "first_delivery", state="preparing")
    make_run(alice, "oil_npt")
    assert things() == {}


def test_a_void_submission_is_graded_again(alice, submit, do, woken):
    submission = submit(alice, "void", void_reason="The sandbox was lost.", operator_detail="Traceback\nSandboxGone: x")
    thing = things()["grade-again", str(submission.pk)]
    assert thing.reason == "The sandbox was lost. SandboxGone: x"
    assert "in the queue" in do("grade-again", submission.pk)
    submission.refresh_from_db()
    assert (submission.state, submission.attempts) == ("queued", 0)
    assert woken == [("grading.tasks.grade_next",)]
    assert acted(submission.run) == ["grade-again"]
    assert "not void any more" in do("grade-again", submission.pk)
    assert acted(submission.run) == ["grade-again"]


def test_a_lease_is_given_back_and_the_former_worker_writes_nothing_more(alice, submit, do):
    past = timezone.now() - LONG_AGO
    submission = submit(alice, "grading", lease_owner="host/12-3/f00", lease_until=past, heartbeat_at=past, attempts=1)
    assert "host/12-3" in things()["give-back", str(submission.pk)].reason
    assert "given back" in do("give-back", submission.pk)
    with pytest.raises(LeaseLost):
        heartbeat(submission)
    submission.refresh_from_db()
    assert submission.state == "queued"


def test_a_grading_that_lives_and_does_not_end_is_found_too(alice, submit):
    alive = timezone.now() + timedelta(seconds=20)
    submission = submit(alice, "grading", created_at=timezone.now() - LONG_AGO, lease_until=alive, lease_owner="h/1/a")
    assert things()["give-back", str(submission.pk)].what == "A grading does not end"


def test_a_submission_that_waits_for_long_wakes_a_worker(alice, submit, do, woken):
    submission = submit(alice, "queued")
    assert ("wake", str(submission.pk)) in things()
    do("wake", submission.pk)
    assert woken == [("grading.tasks.grade_next",)]


def test_a_trial_whose_worker_is_gone_goes_back_into_the_queue(alice, make_run, do, woken):
    run, past = make_run(alice), timezone.now() - LONG_AGO
    values = {"state": "running", "lease_owner": "host/1/a", "lease_until": past, "attempts": 1}
    trial = TrialRun.objects.create(run=run, requested_seq=1, client_id="x", **values)
    assert ("try-again", str(trial.pk)) in things()
    do("try-again", trial.pk)
    trial.refresh_from_db()
    assert trial.state == "waiting"
    assert woken == [("fdegym.delivery.tasks.try_systems",)]


def test_a_run_that_is_not_prepared_says_what_its_log_says(alice, make_run, do, woken):
    run = make_run(alice, state="preparing")
    log.append(run.id, "run.preparing_failed", {"reason": "The disk is full."})
    Run.objects.filter(pk=run.pk).update(begun_at=timezone.now() - LONG_AGO)
    assert things()["prepare-again", str(run.pk)].reason == "The disk is full."
    do("prepare-again", run.pk)
    assert woken == [("fdegym.delivery.tasks.prepare", str(run.pk))]


def test_a_run_past_its_deadline_is_handed_in_and_one_before_it_never(alice, bob, make_run, do, monkeypatch):
    submitted = []
    monkeypatch.setattr(acts, "submit_run", lambda run_id, cause: submitted.append((run_id, cause)))
    run, other = make_run(alice), make_run(bob)
    log.append(run.id, "contact.deadline", {"at": None})
    assert things() == {}, "the sweep has its minutes"
    RunEvent.objects.filter(run=run).update(at=timezone.now() - LONG_AGO)
    assert ("submit", str(run.pk)) in things()
    assert "has not passed" in do("submit", other.pk)
    do("submit", run.pk)
    assert submitted == [(run.pk, "deadline")]


def workspace(run_id, state="running", idle_s=10.0, opened_s=7200.0):
    return {"run": str(run_id), "state": state, "terminals": 0, "idle_s": idle_s, "opened_at": time.time() - opened_s}


def test_a_workspace_that_no_run_owns_is_destroyed_and_one_that_is_owned_never(alice, submit, make_run, keeper, do):
    over, live, fresh, unknown = submit(alice, "graded").run, make_run(alice), submit(alice, "graded").run, uuid.uuid4()
    past = timezone.now() - LONG_AGO
    Run.objects.filter(pk=over.pk).update(begun_at=past, submitted_at=past, ended_at=past)
    Run.objects.filter(pk=fresh.pk).update(submitted_at=timezone.now())
    keeper["workspaces"] = [workspace(run_id) for run_id in (over.pk, live.pk, fresh.pk, unknown, "no-id")]
    assert set(things()) == {("destroy", str(over.pk)), ("destroy", str(unknown)), ("destroy", "no-id")}
    for owned in (live.pk, fresh.pk):
        assert "Nothing was done" in do("destroy", owned)
    for orphan in (over.pk, unknown, "no-id"):
        assert "was destroyed" in do("destroy", orphan)
    assert keeper["destroyed"] == [str(over.pk), str(unknown), "no-id"]
    assert acted(over) == ["destroy"]
    assert OperatorAct.objects.count() == 3


def test_a_workspace_that_nobody_uses_is_stopped(alice, make_run, keeper, do):
    run = make_run(alice)
    keeper["workspaces"] = [workspace(run.pk, idle_s=3500.0)]
    assert things() == {}
    keeper["workspaces"] = [workspace(run.pk, idle_s=5000.0)]
    assert ("stop", str(run.pk)) in things()
    do("stop", run.pk)
    assert keeper["stopped"] == [str(run.pk)]


def test_missing_worlds_are_built_by_a_worker_and_only_of_what_is_offered(monkeypatch, db, do, woken):
    monkeypatch.setattr(stuck, "unbuilt_worlds", lambda: [("oil_npt", "original"), ("oil_npt", "utc")])
    assert things()["build-worlds", "oil_npt"].reason.endswith(": original, utc.")
    do("build-worlds", "oil_npt")
    assert woken == [("fdegym.operations.tasks.build_worlds", "oil_npt")]
    assert "No such scenario is offered" in do("build-worlds", "no_such")


def test_a_silent_process_is_told_without_a_button(db):
    Process.objects.create(kind="worker", host="host-7", pid=12, seen_at=timezone.now() - timedelta(minutes=2))
    ((act, _),) = things()
    assert act == ""


def test_a_silent_keeper_hides_nothing_else(alice, submit, monkeypatch):
    def silent():
        raise ServiceUnavailable("It does not answer.")

    monkeypatch.setattr(stuck, "keeper_workspaces", silent)
    submission = submit(alice, "void")
    assert set(things()) == {("grade-again", str(submission.pk))}


def test_what_costs_somebody_is_asked_twice(alice, olivia, visit, submit, make_run, keeper):
    run = make_run(alice)
    keeper["workspaces"] = [workspace(run.pk, idle_s=5000.0)]
    address = reverse("operations-act", args=["stop", str(run.pk)])
    listed = visit(olivia).get(reverse("operations-run", args=[run.pk])).content.decode()
    assert f'<a class="button quiet" href="{address}?back=' in listed
    asked = visit(olivia).get(address).content.decode()
    assert "Everything that runs in it ends" in asked
    assert keeper["stopped"] == []


def test_an_act_needs_the_form_of_a_page_of_ours(alice, olivia, submit):
    submission = submit(alice, "void")
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(olivia)
    assert browser.post(reverse("operations-act", args=["grade-again", str(submission.pk)])).status_code == 403
    submission.refresh_from_db()
    assert submission.state == "void"


@pytest.mark.parametrize("subject", ["x", "999999999999999999999", "١٢", "00000000-0000-0000-0000-000000000000"])
@pytest.mark.parametrize("name", sorted(acts.ACTS))
def test_nonsense_is_refused_in_words_and_leaves_no_trace(name, subject, do):
    assert "Not done" in do(name, subject)
    assert not OperatorAct.objects.exists()


def test_nobody_is_sent_elsewhere_after_an_act(alice, olivia, visit, submit):
    submission = submit(alice, "void")
    address = reverse("operations-act", args=["grade-again", str(submission.pk)])
    answer = visit(olivia).post(address, {"back": "https://example.org/"})
    assert answer.headers["Location"] == reverse("operations")
