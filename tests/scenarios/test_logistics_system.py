"""logistics_claims' systems, as found and as delivered by the reference, on what production brings."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from scenarios.kit.solutions import overlays_of
from scenarios.logistics_claims.grader import as_found, trial
from scenarios.logistics_claims.grader.ledger import Ledger
from scenarios.logistics_claims.grader.replay import observe
from scenarios.logistics_claims.grader.rows import parse_decisions
from scenarios.logistics_claims.world import shadow
from scenarios.logistics_claims.world.process import Period
from scenarios.logistics_claims.world.production import Run
from tests.sampling import sampled
from tests.scenarios import logistics_worlds
from tests.scenarios.local_host import LocalHost
from tests.scenarios.logistics_worlds import FOLDER, TASKS, built, run_of, scenario, source, streams, view

KIT_CLIENT = FOLDER.parent / "kit" / "system" / "gateway.py"
DAYS = 24


@pytest.fixture(scope="module", autouse=True)
def built_worlds_are_removed() -> Iterator[None]:
    yield
    logistics_worlds.remove_built()


def deploy(solution: str, task: str, folder: Path) -> LocalHost:
    """The system as found with the desk's tables, and what a solution lays over it."""
    system = folder / "system"
    shutil.copytree(FOLDER / "system", system, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(built("original").folder / "system" / "data", system / "data", dirs_exist_ok=True)
    for overlay in overlays_of(scenario(), task, solution):
        shutil.copytree(overlay, system, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return LocalHost(system)


def beginning(task: str) -> Run:
    """The task's first five weeks; what is left in the queue then stays there."""
    whole = source(task)
    period = Period(whole.period.days[:DAYS], whole.period.claims[:DAYS])
    return Run(replace(whole, period=period, days=whole.days[:DAYS]))


def own_tests(system: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-m", "unittest", "discover", "-s", "tests", "-t", "."]
    return subprocess.run(command, cwd=system, capture_output=True, text=True, check=False)


def test_the_gateway_client_is_the_companys_word_for_word() -> None:
    assert (FOLDER / "system" / "claims" / "gateway.py").read_bytes() == KIT_CLIENT.read_bytes()


@pytest.mark.parametrize(
    ("solution", "task"),
    [("do_nothing", "original"), ("reference", "original"), ("reference", "haulier_terms")],
)
def test_the_systems_own_tests_pass(solution: str, task: str, tmp_path: Path) -> None:
    done = own_tests(deploy(solution, task, tmp_path).system)
    assert done.returncode == 0, done.stderr


def test_the_as_found_rules_again_give_the_rows_of_the_system_as_found(tmp_path: Path) -> None:
    run, host = run_of("original"), deploy("do_nothing", "original", tmp_path)
    endings = set()
    for day in range(12):
        filed = run.file(day)
        drop = host.put_drop("drop", run.drop(day))
        argv = ["python", "-m", "claims.decide", "--date", run.days[day].isoformat(), "--drop", drop]
        assert host.call([*argv, "--db", "var/claims.sqlite", "--out", "out.csv"]).failure is None
        rows = parse_decisions(host.read("out.csv", 1_000_000)).rows
        assert rows == {one.id: as_found.decision(one) for one in filed}
        endings |= {row.decision for row in rows.values()}
        run.react(day, rows)
    assert endings == {"PAY", "REFUSE", "QUEUE"}


def test_a_drop_that_lacks_a_column_fails_and_leaves_the_claims_to_people(tmp_path: Path) -> None:
    host = deploy("do_nothing", "original", tmp_path)
    drop = host.put_drop("drop", {"claims_new.csv": b"claim_id,received\nCL26-000001,2026-09-14\n"})
    argv = ["python", "-m", "claims.decide", "--date", "2026-09-14", "--drop", drop]
    done = host.call([*argv, "--db", "var/claims.sqlite", "--out", "out.csv"])
    assert (done.exit_status, done.failure) == (1, "exit")
    assert b"lacks the columns" in done.stderr
    assert host.read("out.csv", 1_000) is None


@pytest.mark.parametrize("task", sampled(TASKS, 2, seed=scenario().release))
def test_the_reference_decides_every_claim_as_the_truth_has_it(task: str, tmp_path: Path) -> None:
    host = deploy("reference", task, tmp_path)
    ledger = observe(beginning(task), host)
    assert host.failures == []
    assert _slips(ledger) == []
    assert sum(one.letter == "won" for one in ledger.settled) > 30
    assert all(one.id == "auto_refusal_without_consent" for one in ledger.incidents())


def _slips(ledger: Ledger) -> list[str]:
    """Claims that cost more than they had to, but for what an assessor's look costs."""
    found = []
    for one in ledger.settled:
        claim = one.filed.claim
        until, today = claim.letter_until, ledger.run.days[one.on_day]
        chargeable = until is not None and today <= until and one.filed.owed > 0
        if (
            one.extra
            or one.fee
            or one.paid > one.filed.owed + max(0.02, 0.003 * one.filed.owed)
            or (chargeable and not one.recovered)
        ):
            found.append(f"{one.filed.id} {claim.reason} {one.ending}: {one.paid} for {one.filed.owed}, {one.letter}")
        if one.ending == "assessed" and not claim.doubtful and claim.limit < ledger.run.terms.mandate:
            found.append(f"{one.filed.id}: an assessor saw what a rule decides")
    return found


def test_small_claims_paid_at_once_cost_more_than_doing_nothing(tmp_path: Path) -> None:
    worth = {}
    for solution in ("do_nothing", "literal"):
        folder = tmp_path / solution
        folder.mkdir()
        host = deploy(solution, "original", folder)
        ledger = observe(beginning("original"), host)
        assert host.failures == []
        paid = [one for one in ledger.settled if one.ending == "paid" and one.filed.claim.invalid_small]
        tried = [one for one in ledger.run.desk.filed_by_day[-1] if one.claim.threshold is not None]
        worth[solution] = (sum(one.paid for one in paid), len(tried))
    assert worth["literal"][0] > 1.5 * worth["do_nothing"][0]
    assert worth["literal"][1] > 1.5 * worth["do_nothing"][1]


def test_a_trial_plays_the_last_days_shown_and_tells_what_the_desk_noticed(tmp_path: Path) -> None:
    days, told = shadow(view("original"), streams("original")), {}
    for solution in ("do_nothing", "reference"):
        folder = tmp_path / solution
        folder.mkdir()
        run = Run(days.source)
        told[solution] = [name for name, _ in trial(run, deploy(solution, "original", folder))]
        shown = [row["claim_id"] for row in built("original").table("claims.csv")]
        ids = [one.id for of_day in run.desk.filed_by_day for one in of_day]
        assert len(run.days) == 10
        assert ids == shown[-len(ids) :]
    assert "known_by_name" in told["do_nothing"]
    assert told["reference"] == []
