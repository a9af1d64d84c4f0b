"""The replay's rules, with the real scenario host as a plain child and deployments that end as the test says."""

import shutil

import pytest

from grading.replay import PathObstructed, ReplayVoid, replay_delivery
from scenarios.kit.format import ReplayLimits
from tests.grading.sides import TINY, LocalDeployment, SandboxLost, ScriptedDeployment, local_scenario_side, tiny_task

LIMITS = tiny_task().limits


def limits(**changes) -> ReplayLimits:
    return LIMITS.model_copy(update=changes)


@pytest.fixture
def system(tmp_path):
    shutil.copytree(TINY / "system", tmp_path / "system")
    return tmp_path / "system"


def play(tmp_path, deployment, task=None, scenario=TINY, **options):
    with local_scenario_side(tmp_path, scenario) as side:
        return replay_delivery(side, deployment, task or tiny_task(), **options)


def scenario_with(tmp_path, **texts):
    """A copy of the tiny scenario with other files, under the same name."""
    folder = tmp_path / "authored" / TINY.name
    shutil.copytree(TINY, folder)
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def overlay(system, task="reference/system"):
    shutil.copytree(TINY / "solutions" / task, system, dirs_exist_ok=True)


def test_the_system_as_found_scores_its_own_failings(tmp_path, system):
    graded = play(tmp_path, LocalDeployment(system))
    assert graded.kpi == -20.0
    assert graded.incidents == ()
    assert graded.calls == 20
    assert graded.period == "ten days of spring"
    assert graded.failures["record"]["failed"] == 0
    assert graded.failures["total"]["calls"] == 10


def test_the_reference_gets_every_evening_right_and_its_changes_are_reported(tmp_path, system):
    overlay(system)
    graded = play(tmp_path, LocalDeployment(system))
    assert graded.kpi == 10.0
    assert [(found.id, found.count) for found in graded.incidents] == [("changed_unasked", 10)]
    assert graded.breakdown[0]["columns"] == ["day", "total", "failure"]


def test_what_is_right_on_one_task_is_wrong_on_another(tmp_path, system):
    overlay(system)
    assert play(tmp_path, LocalDeployment(system), tiny_task("kept")).kpi == -20.0


def test_a_crash_is_the_failure_of_its_call_and_its_words_are_kept(tmp_path, system):
    (system / "shop" / "total.py").write_text("raise SystemExit('no totals today')")
    graded = play(tmp_path, LocalDeployment(system))
    assert graded.kpi == 0.0
    assert graded.failures["total"]["failures"] == {"exit": 10}
    first = graded.failures["total"]["first"]
    assert (first["call"], first["exit_status"]) == (2, 1)
    assert "no totals today" in first["stderr"]


def test_five_timeouts_in_a_row_end_an_entry_point_and_spare_the_other(tmp_path, system):
    deployment = ScriptedDeployment(system, lambda argv: "cpu_limit" if argv[2] == "shop.total" else None, cpu_s=0.1)
    graded = play(tmp_path, deployment)
    assert graded.failures["total"]["failures"] == {"cpu_limit": 5, "given_up": 5}
    assert graded.failures["record"]["failed"] == 0
    assert len(deployment.steps) == 15


def test_a_success_between_timeouts_starts_the_count_anew(tmp_path, system):
    def outcome(argv):
        return "wall_limit" if argv[2] == "shop.total" and argv[-1] != "4" else None

    graded = play(tmp_path, ScriptedDeployment(system, outcome))
    assert graded.failures["total"]["failures"] == {"wall_limit": 9}


def test_calls_fail_at_once_when_the_replay_has_spent_its_seconds(tmp_path, system):
    deployment = ScriptedDeployment(system, lambda argv: None, cpu_s=3.0)
    graded = play(tmp_path, deployment, tiny_task(limits=limits(call_cpu_s=4, replay_cpu_s=10)))
    assert len(deployment.steps) == 4
    assert graded.cpu_s == 12.0
    assert sum(entry["failures"].get("replay_cpu_spent", 0) for entry in graded.failures.values()) == 16
    assert [call.cpu_s for call in deployment.limits] == [4.0, 4.0, 4.0, 1.0]
    assert {call.wall_s for call in deployment.limits} == {16.0}


def test_a_delivery_that_sleeps_does_not_hold_a_worker_for_days(tmp_path, system):
    """FC-91: no CPU spent and no call over its limit, and still the replay ends."""
    deployment = ScriptedDeployment(system, lambda argv: None, wall_s=15.0)
    graded = play(tmp_path, deployment, tiny_task(limits=limits(call_cpu_s=4, replay_cpu_s=10)))
    assert len(deployment.steps) == 3
    assert graded.failures["record"]["failures"] == {"replay_time_spent": 8}


def test_a_wall_limit_on_an_overloaded_host_is_void_and_not_failed(tmp_path, system):
    deployment = ScriptedDeployment(system, lambda argv: "wall_limit")
    with pytest.raises(ReplayVoid) as void:
        play(tmp_path, deployment, host_overloaded=lambda: True)
    assert void.value.retry
    assert len(deployment.steps) == 1


def test_a_cpu_limit_is_failed_on_whatever_host(tmp_path, system):
    deployment = ScriptedDeployment(system, lambda argv: "cpu_limit")
    graded = play(tmp_path, deployment, host_overloaded=lambda: True)
    assert graded.failures["total"]["failed"] == 10


def test_the_graders_own_exception_is_our_fault(tmp_path, system):
    scenario = scenario_with(tmp_path, grader="def replay(production, host):\n    return 1 // 0\n")
    with pytest.raises(ReplayVoid, match="our fault") as void:
        play(tmp_path, LocalDeployment(system), scenario=scenario)
    assert not void.value.retry
    assert "ZeroDivisionError" in void.value.detail


def test_a_world_that_cannot_be_made_is_our_fault(tmp_path, system):
    with pytest.raises(ReplayVoid, match="world failed") as void:
        play(tmp_path, LocalDeployment(system), tiny_task(facts={}))
    assert "KeyError" in void.value.detail


def test_a_grader_that_leaves_the_system_is_our_fault(tmp_path, system):
    scenario = scenario_with(tmp_path, grader="def replay(production, host):\n    host.read('../secret', 10)\n")
    with pytest.raises(ReplayVoid, match="impossible") as void:
        play(tmp_path, LocalDeployment(system), scenario=scenario)
    assert "../secret" in void.value.detail


def test_an_unknown_incident_is_our_fault(tmp_path, system):
    with pytest.raises(ReplayVoid, match="does not know") as void:
        overlay(system)
        play(tmp_path, LocalDeployment(system), tiny_task(incidents=frozenset({"letter_to_stranger"})))
    assert "changed_unasked" in void.value.detail


def test_a_scenario_process_that_dies_is_tried_again(tmp_path, system):
    scenario = scenario_with(tmp_path, grader="import os\ndef replay(production, host):\n    os._exit(9)\n")
    with pytest.raises(ReplayVoid, match="died") as void:
        play(tmp_path, LocalDeployment(system), scenario=scenario)
    assert void.value.retry


def test_a_scenario_process_that_hangs_is_noticed(tmp_path, system):
    scenario = scenario_with(tmp_path, grader="import time\ndef replay(production, host):\n    time.sleep(60)\n")
    with local_scenario_side(tmp_path, scenario, timeout_s=1.0) as side, pytest.raises(ReplayVoid, match="go on"):
        replay_delivery(side, LocalDeployment(system), tiny_task())


def test_what_scenario_code_prints_does_not_reach_the_conversation(tmp_path, system):
    grader = (TINY / "grader.py").read_text().replace("points, changed", "print('noise' * 1000)\n    points, changed")
    graded = play(tmp_path, LocalDeployment(system), scenario=scenario_with(tmp_path, grader=grader))
    assert graded.kpi == -20.0


def test_numpy_values_in_an_outcome_become_plain_numbers(tmp_path, system):
    grader = """
import numpy
from scenarios.kit.world import IncidentFound, Outcome

def replay(production, host):
    rows = [[numpy.int64(3), numpy.float64(0.5), numpy.array([1, 2])]]
    table = {"kind": "table", "title": "t", "columns": ["a"], "rows": rows, "note": ""}
    return Outcome(numpy.float64(4.5), (IncidentFound("changed_unasked", "d", numpy.int64(2)),), (table,), "p")
"""
    graded = play(tmp_path, LocalDeployment(system), scenario=scenario_with(tmp_path, grader=grader))
    assert graded.kpi == 4.5
    assert graded.breakdown[0]["rows"] == [[3, 0.5, [1, 2]]]
    assert graded.incidents[0].count == 2


def test_what_a_delivery_wrote_can_be_quoted_whatever_it_is(tmp_path, system):
    """Half characters, NUL, endless lines and infinities reach the grade as something every database takes."""
    grader = """
from scenarios.kit.world import IncidentFound, Outcome

def replay(production, host):
    odd = "\\ud800 nul \\x00 " + "x" * 5000
    host.progress(1, 1, odd)
    facts = {"kind": "facts", "title": odd, "items": [[odd, float("inf")], [float("nan"), 1]]}
    return Outcome(1.0, (IncidentFound("changed_unasked", odd),), (facts,), odd)
"""
    (system / "shop" / "total.py").write_text("")
    graded = play(tmp_path, LocalDeployment(system), scenario=scenario_with(tmp_path, grader=grader))
    (label, infinite), (undefined, one) = graded.breakdown[0]["items"]
    assert (infinite, undefined, one) == (None, None, 1)
    for text in (label, graded.breakdown[0]["title"], graded.incidents[0].detail, graded.period):
        assert text.startswith("? nul \ufffd x")
        assert text.endswith("x…")
        assert len(text) == 2000


def test_what_a_failing_call_printed_can_be_stored(tmp_path, system):
    (system / "shop" / "total.py").write_text("import sys\nsys.stderr.buffer.write(b'\\x00\\xff')\nsys.exit(3)")
    graded = play(tmp_path, LocalDeployment(system))
    assert graded.failures["total"]["first"]["stderr"] == "\ufffd\ufffd"


def test_a_lost_sandbox_is_no_failed_call(tmp_path, system):
    with pytest.raises(SandboxLost):
        play(tmp_path, ScriptedDeployment(system, lambda argv: SandboxLost("gone")))


def test_a_place_made_unusable_costs_the_delivery_its_file_and_nothing_else(tmp_path, system):
    class Obstructed(LocalDeployment):
        def put(self, path, data):
            raise PathObstructed("a symlink")

    graded = play(tmp_path, Obstructed(system))
    assert graded.kpi == -20.0
    assert graded.failures["production's own files"]["failures"] == {"obstructed": 1}


def test_progress_is_told_at_most_five_times_a_second_and_always_at_the_end(tmp_path, system):
    now = iter(index * 0.05 for index in range(10_000))
    told = []
    deployment = ScriptedDeployment(system, lambda argv: None)
    play(tmp_path, deployment, progress=lambda *row: told.append(row), clock=lambda: next(now))
    assert told[0] == (0, 10, "day 1")
    assert told[-1] == (10, 10, "done")
    assert 3 <= len(told) <= 5


def test_the_same_delivery_gets_the_same_numbers_twice(tmp_path, system):
    overlay(system)
    (tmp_path / "again").mkdir()
    one, two = play(tmp_path, LocalDeployment(system)), play(tmp_path / "again", LocalDeployment(system))
    assert (one.kpi, one.incidents, one.breakdown) == (two.kpi, two.incidents, two.breakdown)
