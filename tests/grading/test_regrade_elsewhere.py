"""A grade is a function of what was handed in: again, on another machine, in another order of hashing, the same bytes."""

from __future__ import annotations

import copy
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.core.management import call_command

from fdegym.authoring.checks.elsewhere import another_machine
from fdegym.runs import log
from fdegym.runs.models import Run, RunState
from fdegym.runs.services import transition
from grading import attempt, services, trusted, worlds
from grading.anchors import TaskAnchors
from grading.models import Grade, Submission
from grading.queue import queue_submission
from grading.recount import HASHED
from grading.services import grade_submission
from scenarios.kit.load import find_scenario
from scenarios.kit.solutions import load_solution
from tests.grading.conftest import Sealed, seal

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db(transaction=True)]


def bytes_of(grade: Grade) -> bytes:
    """Everything that a grade says, but for its number and how long the replay took."""
    said = {field.name: getattr(grade, field.name) for field in HASHED if field.name not in ("number", "differs")}
    said = copy.deepcopy(said)
    for record in (said["replay"], *said["replay"]["failures"].values()):
        for timed in ("cpu_s", "wall_s"):
            record.pop(timed, None)
    return log.canonical(
        {name: str(value) if "Decimal" in type(value).__name__ else value for name, value in said.items()}
    )


@pytest.fixture
def on_another_machine(monkeypatch: pytest.MonkeyPatch) -> Any:
    """``on_another_machine()``: from then on scenario code runs as it would there."""
    spec = trusted.trusted_spec

    def elsewhere() -> None:
        def moved(*arguments: Any, **options: Any) -> Any:
            options["environment"] = {**(options.get("environment") or {}), **another_machine()}
            return spec(*arguments, **options)

        monkeypatch.setattr(trusted, "trusted_spec", moved)

    return elsewhere


@pytest.fixture
def real_submission(alice: Any, make_run: Any, settings: Any, tmp_path: Path) -> Submission:
    """A shipped scenario's literal delivery, handed in."""
    settings.VAR, settings.WORLD_CACHE, settings.CACHE_DIR = tmp_path, tmp_path / "worlds", tmp_path / "cache"
    worlds.grading_runtime.cache_clear()
    scenario = find_scenario("first_delivery", site.SCENARIO_DIRS)
    task = worlds.ensure_world(scenario, "original")
    run = make_run(alice, "first_delivery", release=scenario.release)
    system = tmp_path / "system"
    shutil.copytree(task.system, system)
    for overlay in load_solution(task, "literal").overlays:
        shutil.copytree(overlay, system, dirs_exist_ok=True)
    sealed = Sealed(tmp_path / "sealed.tar", seal(system, tmp_path / "sealed.tar"))
    transition(run.id, RunState.SUBMITTED)
    return queue_submission(Run.objects.get(pk=run.pk), sealed)


@pytest.fixture(autouse=True)
def _runtime_of_this_test_alone() -> Any:
    yield
    worlds.grading_runtime.cache_clear()


@pytest.mark.timeout(1200)
def test_a_grade_made_again_on_another_machine_is_the_same_to_the_byte(
    real_submission: Submission, on_another_machine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (attempt, services):  # measured, they would be two replays more
        monkeypatch.setattr(module, "task_anchors", lambda task, **_: TaskAnchors(0.0, 10_000.0))
    first = grade_submission(real_submission)
    assert first is not None
    on_another_machine()
    said = StringIO()
    call_command("regrade", str(real_submission.run_id), stdout=said)
    assert "random" not in said.getvalue()
    again = Grade.objects.get(number=2)
    assert not again.differs
    assert bytes_of(again) == bytes_of(Grade.objects.get(number=1))
    assert again.breakdown


def test_a_world_built_on_another_machine_is_the_same_to_the_byte(
    real_submission: Submission, on_another_machine: Any, settings: Any, tmp_path: Path
) -> None:
    scenario = find_scenario("first_delivery", site.SCENARIO_DIRS)
    here = worlds.ensure_world(scenario, "original")
    on_another_machine()
    settings.WORLD_CACHE = tmp_path / "worlds-elsewhere"
    there = worlds.ensure_world(scenario, "original")
    assert there.world != here.world
    assert there.meta == here.meta
    for path in sorted(here.visible.rglob("*")):
        if path.is_file():
            assert (there.visible / path.relative_to(here.visible)).read_bytes() == path.read_bytes(), path.name


def test_a_delivery_that_throws_dice_is_said_to_and_its_first_grade_goes_on_counting(submit: Any, alice: Any) -> None:
    """FC-99: in the real sandbox, by the command."""
    dice = """
import os, random, sys
os.makedirs("outbox", exist_ok=True)
if random.SystemRandom().random() < 0.5:
    open(f"outbox/total_{sys.argv[-1]}.txt", "w").write("1")
"""
    submission = submit(alice, files={"shop/total.py": dice})
    first = grade_submission(submission)
    assert first is not None
    for _ in range(8):
        said = StringIO()
        call_command("regrade", str(submission.run_id), stdout=said)
        if "not reproducible: the delivery is random; the first grade counts" in said.getvalue():
            break
    else:
        pytest.fail("ten coins fell the same way eight times")
    assert not first.reproducible
    assert Grade.objects.get(number=1).score == first.score
