"""What the duty manager tells of a trial week of oncall_incident, and what she never does."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

import pytest

import scenarios
from scenarios.kit.build import build
from scenarios.kit.load import load_scenario
from scenarios.kit.trial import TrialWords
from scenarios.kit.world import Streams, TaskView
from scenarios.oncall_incident.grader import trial
from scenarios.oncall_incident.world import shadow
from scenarios.oncall_incident.world.clock import HELD_OUT
from tests.scenarios.local_host import LocalHost

SCENARIO = load_scenario(Path(scenarios.__path__[0]) / "oncall_incident")
SILENT = """
import sys
path = sys.argv[sys.argv.index("--out") + 1]
with open(path, "w") as file:
    file.write("service_id,severity,valid_from,valid_to,level,person_id,delay_min\\n")
"""


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The system as found, with its database."""
    world = tmp_path_factory.mktemp("lumenfold")
    build(SCENARIO.folder, "original", "", world)
    return world / "visible" / "system"


def told(system: Path, scratch: Path, program: str | None = None) -> list[tuple[str, str]]:
    """(sentence id, words) of a trial of the system as found, or with this program in the place of its compiler."""
    delivered = scratch / "system"
    shutil.copytree(system, delivered)
    if program is not None:
        (delivered / "pager" / "compile.py").write_text(program)
    assert SCENARIO.config.trial is not None
    words = TrialWords.of(SCENARIO.config.trial, SCENARIO.facts_of("original"))
    findings = trial(
        shadow(TaskView(SCENARIO.id, "original", SCENARIO.facts_of("original")), streams()), LocalHost(delivered)
    )
    return [(said.id, said.text) for said in words.report(findings)]


@functools.cache
def streams() -> Streams:
    return Streams(SCENARIO.id, "original", "")


def test_a_trial_is_of_the_week_before_the_measured_ones() -> None:
    production = shadow(TaskView(SCENARIO.id, "original", SCENARIO.facts_of("original")), streams())
    assert len(production.calls) == 56
    assert production.calls[-1] < HELD_OUT[0]


def test_of_the_system_as_found_she_tells_of_wrong_teams_and_of_people_off_shift(system: Path, tmp_path: Path) -> None:
    report = told(system, tmp_path)
    assert {"not_mine", "off_shift"} <= {name for name, _ in report}
    assert len(report) <= 4
    truth = shadow(TaskView(SCENARIO.id, "original", SCENARIO.facts_of("original")), streams()).truth
    unsaid = {service.id for service in truth.fleet} | set(truth.roster.site_of) | {"HO-", "OV-", "IN-", "PG-"}
    assert not [(word, text) for _, text in report for word in unsaid if word in text]


def test_a_silent_pager_is_heard_of_hospitals_first(system: Path, tmp_path: Path) -> None:
    assert [name for name, _ in told(system, tmp_path, SILENT)] == ["clinical", "unpaged"]


def test_a_pager_that_crashes_leaves_the_gateway_with_its_old_table(system: Path, tmp_path: Path) -> None:
    (name, text), *rest = told(system, tmp_path, "raise SystemExit(3)")
    assert name == "unread"
    assert "sixty" in text
    assert rest
