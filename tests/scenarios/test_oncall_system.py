"""The pager as found and the reference, each on the first days of production without a sandbox."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scenarios.kit.world import DeploymentHost
from scenarios.oncall_incident.grader.as_found import AsFound
from scenarios.oncall_incident.grader.oracle import DecidedHost
from scenarios.oncall_incident.grader.replay import observe
from scenarios.oncall_incident.world import Production
from scenarios.oncall_incident.world.clock import DAY, SHADOW
from tests.scenarios import oncall_worlds
from tests.scenarios.oncall_worlds import deployed

UNTIL = SHADOW[0] + 3 * DAY
SYNCED_FROM = SHADOW[0] + DAY + DAY // 2


def rung(host: DeploymentHost, production: Production) -> list[tuple[int, list[str]]]:
    observed = observe(production, host)
    assert observed.unread == []
    return [(one.alert.at, [page.person for page in one.pages]) for one in observed.played]


def test_the_as_found_rules_again_ring_whom_the_system_as_found_rings(tmp_path: Path) -> None:
    by_system = rung(deployed("do_nothing", "original", tmp_path), oncall_worlds.production("original", UNTIL))
    rules, production = AsFound(), oncall_worlds.production("original", UNTIL)
    rules.start(production.truth)
    by_rules = []
    for asof in production.calls:
        rules.ingest(production.feed(asof))
        by_rules += [(one.alert.at, [page.person for page in one.pages]) for one in production.react(asof, rules)]
    assert by_rules == by_system
    assert len(by_rules) > 50


@pytest.mark.parametrize("task", ["original", "rota_utc"])
def test_the_reference_rings_whom_the_truth_rings(task: str, tmp_path: Path) -> None:
    """After a day: the truth's own tables know nothing of the pages of the night before."""
    knowing = oncall_worlds.production(task, UNTIL)
    truth = [one for one in rung(DecidedHost(knowing), knowing) if one[0] > SYNCED_FROM]
    system = rung(deployed("reference", task, tmp_path), oncall_worlds.production(task, UNTIL))
    assert [one for one in system if one[0] > SYNCED_FROM] == truth
    assert len(truth) > 20


@pytest.mark.parametrize("solution", ["do_nothing", "reference"])
def test_a_system_passes_its_own_tests(solution: str, tmp_path: Path) -> None:
    system = deployed(solution, "original", tmp_path).system
    command = [sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", "."]
    done = subprocess.run(command, cwd=system, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
