"""The queue: one grade for each submission, whoever is killed, frozen or told twice."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from fdegym.runs.models import RunState
from grading import queue
from grading.models import Grade, Submission, SubmissionState
from grading.queue import (
    LeaseLost,
    give_up,
    heartbeat,
    note_progress,
    queue_position,
    queue_submission,
    take_submission,
    take_this_submission,
)
from grading.replay import ReplayVoid
from grading.services import current_grade, grade_submission, regrade
from grading.tasks import grade_next, sweep
from workspaces.runtime.errors import SandboxGone

pytestmark = [pytest.mark.backend, pytest.mark.django_db(transaction=True)]


def expire(submission):
    Submission.objects.filter(pk=submission.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def due_now():
    Submission.objects.update(not_before=None)


def test_a_run_submitted_twice_is_one_submission(submit, alice):
    """FC-83"""
    first = submit(alice)
    again = queue_submission(first.run, _other_seal(), "abandoned")
    assert again.pk == first.pk
    assert again.cause == "person"
    assert Submission.objects.count() == 1


def _other_seal():
    from tests.grading.conftest import Sealed

    return Sealed("elsewhere", "f" * 64)


def test_the_longest_waiting_is_taken_first_and_positions_say_so(submit, alice, bob, charlie):
    """FC-89"""
    first, second, third = submit(alice), submit(bob), submit(charlie)
    assert [queue_position(one) for one in (first, second, third)] == [1, 2, 3]
    assert take_submission("w") == first
    first.refresh_from_db()
    assert [queue_position(one) for one in (first, second, third)] == [1, 2, 3]
    Submission.objects.filter(pk=first.pk).update(state=SubmissionState.GRADED)
    first.refresh_from_db()
    assert [queue_position(one) for one in (first, second, third)] == [None, 1, 2]


def test_who_hands_in_run_after_run_delays_others_by_one_grade(submit, alice, bob, charlie, replays):
    """FC-91: everybody's first comes before anybody's second, also when the first of many is graded already."""
    replays(5.0)
    many = [submit(alice) for _ in range(4)]
    bobs = submit(bob)
    assert [queue_position(one) for one in (*many, bobs)] == [1, 3, 4, 5, 2]
    assert grade_submission(many[0]) is not None
    charlies = submit(charlie)
    assert [queue_position(one) for one in (*many[1:], bobs, charlies)] == [3, 4, 5, 1, 2]
    taken = [take_submission("w") for _ in range(5)]
    assert taken == [bobs, charlies, *many[1:]]
    again = submit(bob)
    assert queue_position(again) == 6


def test_many_workers_at_once_never_take_the_same_submission(submit, alice):
    """FC-92"""
    wanted = {submit(alice, attempt=number).pk for number in range(1, 13)}
    taken, failures, start = [], [], threading.Barrier(4)

    def work():
        try:
            start.wait()
            while (submission := take_submission("w")) is not None:
                taken.append(submission.pk)
        except Exception as problem:  # noqa: BLE001 - shown by the assertion below
            failures.append(problem)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert sorted(taken) == sorted(wanted)


def test_a_lease_that_holds_is_not_taken_and_one_that_ran_out_is(submit, alice):
    """FC-88, FC-93"""
    submit(alice)
    mine = take_submission("first")
    assert take_submission("second") is None
    heartbeat(mine)
    assert take_submission("second") is None
    expire(mine)
    theirs = take_submission("second")
    assert theirs.pk == mine.pk
    assert theirs.attempts == 2


def test_a_worker_that_lost_its_lease_can_write_nothing_more(submit, alice):
    submit(alice)
    mine = take_submission("first")
    expire(mine)
    take_submission("second")
    with pytest.raises(LeaseLost):
        heartbeat(mine)
    with pytest.raises(LeaseLost):
        note_progress(mine, "replay", 1, 2)
    with pytest.raises(LeaseLost):
        give_up(mine, "late", detail="", retry=False)
    assert Submission.objects.get().state == SubmissionState.GRADING


def test_a_grade_is_written_once_and_moves_the_run(submit, alice, replays):
    replays(5.0)
    submission = submit(alice)
    grade_next()
    grade = Grade.objects.get()
    assert grade.submission == submission
    assert (str(grade.uplift), str(grade.score), grade.number) == ("0.500000", "0.500000", 1)
    submission.refresh_from_db()
    assert submission.state == SubmissionState.GRADED
    assert submission.run.state == RunState.GRADED
    assert current_grade(submission.run) == grade


def test_a_message_delivered_twice_grades_once(submit, alice, replays):
    """FC-92"""
    replayed = replays(5.0)
    submit(alice)
    grade_next()
    grade_next()
    sweep()
    assert len(replayed) == 1
    assert Grade.objects.count() == 1


def test_a_message_that_arrives_during_the_grading_grades_nothing(submit, alice, replays):
    replayed = replays(5.0, during=lambda: grade_next())
    submit(alice)
    grade_next()
    assert len(replayed) == 1
    assert Grade.objects.count() == 1


def test_a_frozen_worker_that_wakes_after_another_finished_adds_no_grade(submit, alice, replays):
    """The first worker sleeps past its lease inside the replay; the second one's grade stands alone."""
    submission = submit(alice)
    nested = []

    def taken_over():
        if not nested:
            nested.append(True)
            expire(submission)
            grade_next()

    replayed = replays(5.0, 7.0, during=taken_over)
    grade_next()
    assert len(replayed) == 2
    grade = Grade.objects.get()
    submission.refresh_from_db()
    assert submission.state == SubmissionState.GRADED
    assert grade.kpi == 7.0


def test_a_submission_that_no_message_announced_is_found_by_the_sweep(submit, alice, bob, replays):
    replays(5.0)
    submit(alice)
    submit(bob)
    sweep()
    assert Grade.objects.count() == 2


@pytest.mark.parametrize(
    "failure",
    [
        SandboxGone("the sandbox died"),
        ReplayVoid("The grading machine was overloaded.", retry=True),
        OSError(28, "disk"),
    ],
)
def test_a_failure_of_ours_is_tried_three_times_then_void_and_costs_nothing(submit, alice, replays, failure):
    """FC-98"""
    replayed = replays(failure)
    submission = submit(alice)
    for attempt in range(1, 4):
        grade_next()
        submission.refresh_from_db()
        assert submission.attempts == attempt
        if attempt < 3:
            assert submission.state == SubmissionState.QUEUED
            assert submission.not_before > timezone.now()
            assert "tried again" in submission.progress["what"]
            assert take_submission("too early") is None
            due_now()
    assert len(replayed) == 3
    assert submission.state == SubmissionState.VOID
    assert submission.void_reason
    assert submission.run.state == RunState.VOID
    assert Grade.objects.count() == 0


def test_a_failure_once_does_not_show_in_the_grade(submit, alice, replays):
    replays(SandboxGone("the sandbox died"), 10.0)
    submission = submit(alice)
    grade_next()
    due_now()
    grade_next()
    assert current_grade(submission.run).score == 1
    submission.refresh_from_db()
    assert submission.void_reason == ""


def test_the_graders_own_bug_is_void_at_once(submit, alice, replays):
    replays(ReplayVoid("The scenario's grader failed: our fault, not yours.", retry=False, detail="Traceback …"))
    submission = submit(alice)
    grade_next()
    submission.refresh_from_db()
    assert submission.state == SubmissionState.VOID
    assert "our fault" in submission.void_reason
    assert submission.operator_detail == "Traceback …"
    assert "Traceback" not in submission.void_reason


def test_a_worker_killed_three_times_leaves_a_void_and_not_a_loop(submit, alice):
    """FC-88"""
    submission = submit(alice)
    for _ in range(3):
        expire(take_submission("doomed"))
    assert take_submission("doomed") is None
    submission.refresh_from_db()
    assert submission.state == SubmissionState.VOID
    assert "three times" in submission.void_reason
    assert submission.run.state == RunState.VOID


def test_a_void_submission_graded_later_counts(submit, alice, replays):
    replays(ReplayVoid("our fault", retry=False), 8.0)
    submission = submit(alice)
    grade_next()
    grade = regrade(submission)
    assert (grade.number, grade.kpi) == (1, 8.0)
    submission.run.refresh_from_db()
    assert submission.run.state == RunState.GRADED


def test_bringing_a_submission_to_its_end_waits_for_who_grades_it(submit, alice, replays):
    replays(9.0)
    submission = submit(alice)
    other = take_this_submission(submission, "other")
    waiter = threading.Thread(target=_grade_and_close, args=(submission,))
    waiter.start()
    waiter.join(0.3)
    assert waiter.is_alive()
    expire(other)
    waiter.join(10)
    assert not waiter.is_alive()
    assert current_grade(submission.run).kpi == 9.0


def _grade_and_close(submission):
    try:
        grade_submission(submission)
    finally:
        connection.close()


def test_a_long_grading_keeps_its_lease_by_beating(submit, alice, replays, monkeypatch):
    monkeypatch.setattr(queue, "LEASE", timedelta(seconds=0.6))
    monkeypatch.setattr(queue, "HEARTBEAT_S", 0.1)
    stolen = []

    def long_replay():
        for _ in range(15):
            threading.Event().wait(0.1)
            stolen.append(take_submission("thief"))

    replays(4.0, during=long_replay)
    submission = submit(alice)
    grade_next()
    assert stolen == [None] * 15
    assert current_grade(submission.run).kpi == 4.0
