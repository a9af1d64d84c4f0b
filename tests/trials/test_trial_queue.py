"""A trial from the asking to the report: once, whoever is killed, asks twice or hands in meanwhile; ours is free."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from fdegym.delivery import trials
from fdegym.delivery.models import TrialRun, TrialState
from fdegym.delivery.submit import submit_run
from fdegym.delivery.tasks import try_systems
from fdegym.delivery.trials import progress_of, run_this_trial, run_trials, take_trial
from fdegym.runs import log
from fdegym.runs.models import Run
from grading.contacts import conversation_of
from grading.replay import ReplayVoid
from stakeholders.redecide import first_difference
from stakeholders.scripts import script_of
from stakeholders.services import contact_cost, contact_rows
from stakeholders.trials import TrialRefused
from workspaces.runtime.errors import RuntimeUnusable, SandboxGone, SandboxTooLarge

pytestmark = pytest.mark.django_db(transaction=True)
WRONG = [("wrong", {"evenings": 3, "evening": ["the first evening"]})]
SAID = "Ada: three totals did not fit the cash box, the first evening for one."
Ask, Finds, Begin = Callable[..., dict[str, Any]], Callable[..., list[Path]], Callable[[Any], Run]


def reports(run: Run) -> list[dict[str, Any]]:
    return [event.payload for event in log.events(run.id, kinds=["trial.reported"])]


def end_leases() -> None:
    TrialRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1), not_before=None)


def test_what_people_noticed_is_reported_charged_and_shown_as_often_as_asked(
    alice: Any, begin: Begin, ask: Ask, finds: Finds
) -> None:
    run, tried = begin(alice), finds(WRONG)
    assert ask(run, "t1")["running"]
    try_systems()
    assert [ask(run, "t1")["said"] for _ in range(2)] == [[SAID], [SAID]]
    report = reports(run)[0]
    assert (report["charge"], report["counted"], report["calls"]) == ("0.03", True, 6)
    assert len(tried) == len(reports(run)) == 1
    assert not tried[0].exists()  # the copy is gone once it was tried
    assert progress_of(run) is None
    assert str(contact_cost(run.id)) == "0.03"
    assert first_difference(script_of(run), log.events(run.id)) is None


def test_the_log_says_which_system_was_tried(alice: Any, begin: Begin, ask: Ask, finds: Finds) -> None:
    run = begin(alice)
    finds([])
    ask(run, "t1")
    run_trials()
    frozen = submit_run(run.id)
    assert reports(run)[0]["system"] == frozen.sha256  # nothing was changed since
    assert reports(run)[0]["said"] == [{"id": "quiet", "text": "Ada: the totals fitted the cash box."}]


def test_trials_run_one_at_a_time_and_end_with_the_last_price(alice: Any, begin: Begin, ask: Ask, finds: Finds) -> None:
    run = begin(alice)
    finds(WRONG)
    ask(run, "t1")
    with pytest.raises(TrialRefused, match="one at a time"):
        ask(run, "t2")
    run_trials()
    ask(run, "t2")
    run_trials()
    with pytest.raises(TrialRefused, match="no trial left"):
        ask(run, "t3")
    assert [report["charge"] for report in reports(run)] == ["0.03", "0.05"]


def test_trials_of_different_people_do_not_wait_for_each_others_limits(
    alice: Any, bob: Any, begin: Begin, ask: Ask, finds: Finds
) -> None:
    runs = [begin(alice), begin(bob)]
    finds(WRONG)
    for run in runs:
        ask(run, "same id")
    assert run_trials() == 2
    assert [[report["charge"] for report in reports(run)] for run in runs] == [["0.03"], ["0.03"]]


def test_a_worker_killed_at_any_moment_is_replaced_when_its_lease_is_over_and_the_same_system_is_tried(
    alice: Any, begin: Begin, ask: Ask, finds: Finds
) -> None:
    run, copies = begin(alice), []

    def killed() -> None:
        copies.append(Path(TrialRun.objects.get().copy_path).read_bytes())
        raise KeyboardInterrupt  # leaves everything as a killed process does

    finds(WRONG, during=killed)
    ask(run, "t1")
    with pytest.raises(KeyboardInterrupt):
        run_trials()
    assert (reports(run), take_trial()) == ([], None)  # its lease still holds
    end_leases()
    tried = finds(WRONG, during=lambda: copies.append(tried[-1].read_bytes()))
    assert run_trials() == 1
    assert copies[0] == copies[1]
    assert len(reports(run)) == 1


def test_a_worker_that_was_only_frozen_writes_nothing_once_another_has_taken_over(
    alice: Any, begin: Begin, ask: Ask, finds: Finds
) -> None:
    run = begin(alice)
    ask(run, "t1")
    frozen = take_trial()
    assert frozen is not None
    end_leases()
    finds(WRONG)
    assert run_trials() == 1
    finds([])
    trials.carry_out(frozen)
    assert [report["said"][0]["text"] for report in reports(run)] == [SAID]


def test_a_long_trial_keeps_its_lease_by_beating(
    alice: Any, begin: Begin, ask: Ask, finds: Finds, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.waiting import until

    monkeypatch.setattr(trials, "HEARTBEAT_S", 0.05)
    run = begin(alice)
    ask(run, "t1")

    def beaten() -> None:
        TrialRun.objects.update(lease_until=timezone.now() - timedelta(hours=1))
        until(lambda: TrialRun.objects.get().lease_until > timezone.now(), "the lease is renewed", every_s=0.05)

    finds(WRONG, during=beaten)
    assert run_trials() == 1
    assert len(reports(run)) == 1


@pytest.mark.parametrize(
    "failure", [SandboxGone("It died."), ReplayVoid("Overloaded.", retry=True), OSError("disk"), LookupError("ours")]
)
def test_a_failure_of_ours_is_tried_again_and_nobody_hears_of_it(
    failure: Exception, alice: Any, begin: Begin, ask: Ask, finds: Finds
) -> None:
    run = begin(alice)
    finds(failure, failure, WRONG)
    ask(run, "t1")
    for _ in range(3):
        run_trials()
        end_leases()
    assert [report["charge"] for report in reports(run)] == ["0.03"]


def test_a_trial_waits_for_a_host_that_can_make_sandboxes_however_long(
    alice: Any, begin: Begin, ask: Ask, finds: Finds
) -> None:
    run, away = begin(alice), RuntimeUnusable("The keeper does not answer.")
    finds(*[away] * 4, WRONG)
    ask(run, "t1")
    for _ in range(5):
        run_trials()
        end_leases()
    assert [report["charge"] for report in reports(run)] == ["0.03"]


@pytest.mark.parametrize(
    ("outcome", "attempts"),
    [
        (SandboxGone("It died."), 3),
        (ReplayVoid("The scenario's grader failed.", retry=False, detail="KeyError: 'cedar'"), 1),
        ([("owner", {})], 1),
        ([("wrong", {"evenings": 1, "evening": "the day after"})], 1),
    ],
)
def test_what_fails_for_good_through_our_fault_is_void_free_and_not_counted(
    outcome: Any, attempts: int, alice: Any, begin: Begin, ask: Ask, finds: Finds
) -> None:
    run, tried = begin(alice), finds(outcome)
    ask(run, "t1")
    for _ in range(5):
        run_trials()
        end_leases()
    assert len(tried) == attempts
    shown = ask(run, "t1")
    assert (shown["said"], shown["words"]) == ([], trials.OURS)
    assert "cedar" not in str(reports(run))
    assert conversation_of(run).cost == 0
    for number in range(2):  # both trials are still there, at their prices
        finds(WRONG)
        ask(run, f"then-{number}")
        run_trials()
    assert str(conversation_of(run).cost) == "0.08"


def test_a_worker_that_dies_every_time_ends_in_a_void(alice: Any, begin: Begin, ask: Ask, finds: Finds) -> None:
    run = begin(alice)
    ask(run, "t1")
    for _ in range(3):
        assert take_trial() is not None
        end_leases()
    tried = finds(WRONG)
    run_trials()
    assert tried == []
    assert [(report["outcome"], report["charge"]) for report in reports(run)] == [("void", "0")]


def test_a_system_none_of_whose_calls_came_through_did_not_run_and_that_is_charged(
    alice: Any, begin: Begin, ask: Ask, finds: Finds
) -> None:
    run = begin(alice)
    finds([("missing", {"evenings": 3})], failed=True)
    ask(run, "t1")
    run_trials()
    shown = ask(run, "t1")
    assert shown["said"] == []
    assert (
        shown["words"]
        == "It did not run: record failed 3 of 3 times, total failed 3 of 3 times. Nobody noticed anything else."
    )
    assert reports(run)[0]["charge"] == "0.03"


def test_a_system_too_large_to_be_deployed_did_not_run(
    alice: Any, begin: Begin, ask: Ask, finds: Finds, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(alice)
    finds(WRONG)

    def too_large(run_id: str, target: Path) -> None:
        raise SandboxTooLarge("The files of /workspace/system are larger than 256 MB together.")

    monkeypatch.setattr(trials, "copy_system", too_large)
    ask(run, "t1")
    run_trials()
    assert ask(run, "t1")["words"].startswith("It did not run. The files")
    assert reports(run)[0]["counted"]


def test_a_workspace_that_was_stopped_while_nobody_worked_is_brought_back_to_be_copied(
    alice: Any, begin: Begin, ask: Ask, finds: Finds, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(alice)
    finds(WRONG)
    copied, reopened = trials.copy_system, []

    def gone_once(run_id: str, target: Path) -> Any:
        if not reopened:
            raise SandboxGone("It is stopped.")
        return copied(run_id, target)

    monkeypatch.setattr(trials, "copy_system", gone_once)
    monkeypatch.setattr(trials, "reopen_workspace", lambda run: reopened.append(run.id))
    ask(run, "t1")
    run_trials()
    assert reopened == [run.id]
    assert len(reports(run)) == 1


def test_handing_in_ends_a_trial_that_is_being_run_without_a_charge(
    alice: Any, begin: Begin, ask: Ask, finds: Finds
) -> None:
    run = begin(alice)
    ask(run, "t1")
    finds(WRONG, during=lambda: submit_run(run.id) and None)
    run_trials()
    assert [(report["outcome"], report["charge"]) for report in reports(run)] == [("withdrawn", "0")]
    assert ask(run, "t1")["words"].startswith("The work was handed in")
    run.refresh_from_db()
    assert conversation_of(run).cost == 0
    kinds = [event.kind for event in log.events(run.id)]
    assert kinds.index("trial.reported") < kinds.index("run.frozen")
    assert (run_trials(), TrialRun.objects.count()) == (0, 0)
    assert list(Path(run.submission.sealed_path).parent.glob("*.tar")) == [run.submission.sealed]
    assert first_difference(script_of(run), log.events(run.id)) is None


def test_a_trial_reported_before_handing_in_is_part_of_c(alice: Any, begin: Begin, ask: Ask, finds: Finds) -> None:
    run = begin(alice)
    finds(WRONG)
    ask(run, "t1")
    run_trials()
    submit_run(run.id)
    talk = conversation_of(run)
    assert (str(talk.cost), talk.trials, str(talk.cost_of_trials), talk.cost_of_waiting) == ("0.03", 1, "0.03", 0)
    assert contact_rows(run.id)[0] | {"before": None, "after": None} == {
        **{"what": "trial", "person": None, "text": None, "answer": SAID, "kind": "reported", "topics": []},
        **{"facts": [], "grants": [], "misconceptions": [], "incident": None, "charge": "0.03", "counted": True},
        **{"minutes": 0, "before": None, "after": None},
    }


def test_a_command_runs_its_own_trial_here_and_now(alice: Any, begin: Begin, ask: Ask, finds: Finds) -> None:
    run = begin(alice)
    finds(WRONG)
    ask(run, "t1")
    assert run_this_trial(run, "t1")["said"] == [{"id": "wrong", "text": SAID}]
    assert run_this_trial(run, "t1") == reports(run)[0]


def test_the_task_that_the_desk_names_is_one_that_the_worker_has() -> None:
    from celery import current_app

    from stakeholders.management.commands.desk import TRY_SYSTEMS

    assert try_systems.name == TRY_SYSTEMS
    assert TRY_SYSTEMS in current_app.tasks


def test_a_trial_that_is_waited_for_has_its_state(alice: Any, begin: Begin, ask: Ask, finds: Finds) -> None:
    run = begin(alice)
    ask(run, "t1")
    trial = take_trial()
    assert trial is not None
    assert (trial.state, progress_of(run)) == (TrialState.RUNNING, {"step": "taken", "done": 0, "total": 0})
