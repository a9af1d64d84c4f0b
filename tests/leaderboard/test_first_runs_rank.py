"""Only the first begun run ranks: every way to have seen the customer before, tried against the real services and boards.

Out of scope: a person with two accounts. Nothing here knows people, only accounts; boards of a course have a roll.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from fdegym.accounts.services import erase_account
from fdegym.delivery.begin import begin_command_run, begin_run, prepare_run
from fdegym.delivery.submit import abandon_run, submit_run
from fdegym.leaderboard.boards import scenario_board
from fdegym.lib.errors import RunStateConflict
from fdegym.runs.access import live_run_of
from fdegym.runs.models import Run, RunState
from fdegym.runs.services import transition
from grading.replay import ReplayVoid
from grading.services import grade_submission, regrade
from tests.grading.sides import TINY
from tests.standings import results_of_view

pytestmark = pytest.mark.django_db(transaction=True)


def ranked() -> dict[int, Decimal]:
    """Account → the score with which it stands on the ranked board."""
    return {result.person: result.score for result in results_of_view("ranked", TINY.name)}


def test_a_run_at_the_easiest_level_first_is_the_one_that_ranks(alice: Any, graded: Callable[..., Run]) -> None:
    """L0 states the rules; who reads them there has their ranked run there, and the board says at which level."""
    graded(alice, level="L0", kpi=5.0)
    assert not graded(alice, level="L3", kpi=10.0).is_ranked
    assert ranked() == {alice.pk: Decimal("0.48")}
    (row,) = scenario_board(TINY.name, "ranked", 1, None).rows
    assert row.level == "L0"


def test_a_run_given_up_ranks_as_it_stands_and_the_next_one_does_not(
    alice: Any, begin: Any, talk: Any, hand_in: Any, replays: Any, graded: Any
) -> None:
    run = begin(alice)
    talk(run, "What is wrong?")
    replays(0.0)
    grade_submission(abandon_run(run.id))
    graded(alice)
    assert ranked() == {alice.pk: Decimal("-0.01")}


def test_nobody_begins_anew_while_a_run_is_open(alice: Any, begin: Any) -> None:
    """Looking round, and beginning again from a clean page, is one run: at whatever level it is asked for."""
    run = begin(alice, "L3")
    for level in ("L0", "L1", "L3"):
        assert begin_run(alice, TINY.name, level) == run
    assert Run.objects.get().level == "L3"


def test_a_debrief_read_helps_only_runs_that_do_not_rank(alice: Any, graded: Any, settings: Any, market: Path) -> None:
    """The debrief tells the facts; another task of the same customer is then played with some of them known."""
    config = market / "scenario.toml"
    config.write_text(config.read_text().replace('sponsor = "ada"', 'sponsor = "ada"\noffered = ["original", "kept"]'))
    first, second = graded(alice, kpi=3.0), graded(alice)
    assert {first.task_id, second.task_id} == {"original", "kept"}
    assert ranked() == {alice.pk: Decimal("0.28")}


@pytest.mark.backend
def test_two_tabs_that_begin_at_once_at_two_levels_begin_one_run(alice: Any, market: Path) -> None:
    begun: list[Any] = []
    start = threading.Barrier(2)

    def tab(level: str) -> None:
        try:
            start.wait(20)
            begun.append(begin_run(alice, market.name, level).pk)
        finally:
            connection.close()

    tabs = [threading.Thread(target=tab, args=(level,)) for level in ("L0", "L3")]
    for thread in tabs:
        thread.start()
    for thread in tabs:
        thread.join(60)
    assert len(begun) == 2
    assert len(set(begun)) == 1
    assert Run.objects.count() == 1


def test_a_second_run_cannot_be_open_beside_the_first_nor_have_its_number(
    alice: Any, begin: Any, make_run: Any
) -> None:
    """So none can be begun first and handed in after another: the database itself refuses it."""
    run = begin(alice)
    for fields in ({"attempt": 2}, {"attempt": 1, "state": RunState.GRADED}):
        with pytest.raises(IntegrityError), transaction.atomic():
            make_run(alice, TINY.name, **fields)
    assert live_run_of(alice, TINY.name) == run


def test_runs_of_different_customers_rank_each_on_its_own(alice: Any, begin: Any, hand_in: Any, make_run: Any) -> None:
    """Begun first and handed in last, at another customer: neither knows anything of the other."""
    elsewhere = make_run(alice, "oil_npt")
    run = begin(alice)
    hand_in(run)
    assert (elsewhere.is_ranked, run.is_ranked) == (True, True)


def test_the_customers_deadline_hands_in_the_run_that_ranks(alice: Any, begin: Any, hand_in: Any, graded: Any) -> None:
    run = begin(alice)
    grade = hand_in(run, 6.0, cause="deadline")
    assert grade.submission.cause == "deadline"
    graded(alice)
    assert ranked() == {alice.pk: Decimal("0.6")}


def test_what_is_handed_in_is_handed_in_once(alice: Any, begin: Any, hand_in: Any) -> None:
    """FC-86: the answer to a second click, a late tab or a deadline in the same moment is what is stored."""
    run = begin(alice)
    first = submit_run(run.id)
    assert submit_run(run.id, cause="deadline") == first
    assert abandon_run(run.id) == first
    first.refresh_from_db()
    assert first.cause == "person"
    hand_in(run, 4.0)
    assert ranked() == {alice.pk: Decimal("0.4")}


def test_a_void_first_run_keeps_its_place_until_our_fault_is_mended(
    alice: Any, begin: Any, hand_in: Any, graded: Any, replays: Any
) -> None:
    """Neither can a delivery that spoils its own grading buy a second first run."""
    run = begin(alice)
    assert hand_in(run, ReplayVoid("The scenario's grader failed: our fault, not yours.", retry=False)) is None
    assert run.state == RunState.VOID
    later = graded(alice)
    assert not later.is_ranked
    assert ranked() == {}
    replays(2.0)
    regrade(run.submission)
    assert ranked() == {alice.pk: Decimal("0.2")}


def test_a_start_that_failed_is_no_run_and_the_next_one_ranks(
    alice: Any, market: Path, begin: Any, hand_in: Any
) -> None:
    """FC-71, FC-73: our failure before anything was seen costs neither the rank nor the right to try again at once."""
    from fdegym.delivery.begin import RUNS_AN_HOUR

    for _ in range(RUNS_AN_HOUR + 1):
        failed = begin_run(alice, market.name, "L3")
        transition(failed.id, RunState.FAILED, "no sandbox could be made")
    failed.refresh_from_db()
    assert not failed.is_ranked
    run = begin(alice)
    assert (run.attempt, run.is_ranked) == (1, True)
    hand_in(run, 7.0)
    assert ranked() == {alice.pk: Decimal("0.7")}
    assert begin(alice).attempt == 2


def test_a_start_that_failed_cannot_be_taken_up_later_when_the_customer_is_known(
    alice: Any, market: Path, graded: Any
) -> None:
    failed = begin_run(alice, market.name, "L3")
    transition(failed.id, RunState.FAILED, "no sandbox could be made")
    graded(alice, kpi=1.0)
    for state in RunState:
        with pytest.raises(RunStateConflict):
            transition(failed.id, state)
    assert prepare_run(failed.id).state == RunState.FAILED
    assert ranked() == {alice.pk: Decimal("0.08")}


def test_an_open_run_of_a_person_cannot_be_made_to_fail(alice: Any, begin: Any) -> None:
    """Whatever is done to its sandbox: what has been seen has been seen."""
    run = begin(alice)
    with pytest.raises(RunStateConflict):
        transition(run.id, RunState.FAILED, "the sandbox is gone")
    run.refresh_from_db()
    assert run.state == RunState.OPEN


def test_runs_of_commands_rank_nowhere_and_take_nobodys_first(alice: Any, market: Path, hand_in: Any) -> None:
    played = begin_command_run(market.name, "original", "L0")
    hand_in(played)
    assert not played.is_ranked
    for view in ("ranked", "150", "best"):
        assert results_of_view(view, market.name) == []
    assert begin_run(alice, market.name, "L3").attempt == 1


def test_no_person_can_remove_a_run(alice: Any, bob: Any, graded: Any) -> None:
    """No address deletes one: every method on every address of a run leaves it, its log and its grade in place."""
    run = graded(alice, kpi=1.0)
    before = (Run.objects.get().state, run.events.count())
    names = ["run", "grading", "debrief", "run-give-up", "run-export", "workbench_submit", "workbench_file"]
    for person in (alice, bob, None):
        browser = Client(raise_request_exception=False)
        if person is not None:
            browser.force_login(person)
        for name in names:
            for method in ("delete", "put", "patch", "post"):
                getattr(browser, method)(reverse(name, args=[run.id]), "{}", content_type="application/json")
    assert (Run.objects.get().state, run.events.count()) == before
    assert ranked() == {alice.pk: Decimal("0.08")}


def test_an_erased_account_leaves_its_runs_and_no_way_back(alice: Any, graded: Any) -> None:
    run = graded(alice, kpi=1.0)
    erase_account(alice)
    assert Run.objects.get(pk=run.pk).user_id == alice.pk
    assert ranked() == {}
    browser = Client()
    browser.post(reverse("account_login"), {"login": "alice", "password": "alice-has-a-long-password"})
    assert "_auth_user_id" not in browser.session


def test_an_export_can_be_taken_along_and_brought_back_by_nobody(alice: Any, graded: Any) -> None:
    """There is no import: an address that takes one does not exist, and what is posted to the export is not read."""
    run = graded(alice, kpi=1.0)
    browser = Client()
    browser.force_login(alice)
    exported = browser.get(reverse("run-export", args=[run.id])).content
    better = exported.replace(b'"score": "0.080000"', b'"score": "1.000000"')
    assert better != exported
    for address in (reverse("run-export", args=[run.id]), reverse("profile-export-json"), "/runs/import/", "/import/"):
        assert browser.post(address, better, content_type="application/json").status_code in (404, 405)
    assert ranked() == {alice.pk: Decimal("0.08")}


def test_hiding_and_showing_oneself_changes_no_rank(alice: Any, bob: Any, graded: Any) -> None:
    graded(alice, kpi=1.0)
    graded(bob, kpi=2.0)
    graded(alice, kpi=10.0)
    for shown in (False, True):
        alice.on_leaderboard = shown
        alice.save()
    assert ranked() == {alice.pk: Decimal("0.08"), bob.pk: Decimal("0.18")}


def test_time_counts_from_the_opening_of_the_workspace_whatever_was_done_meanwhile(
    alice: Any, bob: Any, begin: Any, hand_in: Any
) -> None:
    """The board of 150 minutes: alice's run lay asleep for long after it was open; bob waited as long for his workspace."""
    long_ago = timezone.now() - timedelta(minutes=151)
    slept, waited = begin(alice), begin(bob)
    Run.objects.filter(pk=slept.pk).update(begun_at=long_ago, opened_at=long_ago)
    Run.objects.filter(pk=waited.pk).update(begun_at=long_ago)
    for run in (slept, waited):
        hand_in(run)
    assert [result.person for result in results_of_view("150", TINY.name)] == [bob.pk]
    assert len(results_of_view("ranked", TINY.name)) == 2


def test_numbers_of_runs_are_never_given_twice_even_if_an_operator_removed_one(alice: Any, graded: Any) -> None:
    first, second = graded(alice, kpi=1.0), graded(alice)
    first.delete()
    assert graded(alice).attempt == second.attempt + 1
    assert ranked() == {}
