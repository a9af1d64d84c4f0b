"""A worker killed at any phase of a real grading: the next sweep after its lease grades once and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import connection

from fdegym.runs.models import RunState
from grading.models import Grade, Submission, SubmissionState
from grading.services import regrade
from grading.tasks import sweep
from grading.worlds import grading_runtime
from tests.sampling import commit, sampled
from tests.waiting import until

pytestmark = [pytest.mark.sandbox, pytest.mark.django_db(transaction=True)]

#: In the middle of a replay and inside the transaction that writes the grade; of the others two with every commit.
ALWAYS = [pytest.param(phase, marks=pytest.mark.backend) for phase in ("replay", "writing")]
PHASES = [*ALWAYS, *sampled(["taken", "anchors", "copy", "start", "score"], 2, seed=commit())]


def start_worker(settings, stop_at: str, marker: Path) -> subprocess.Popen[bytes]:
    script = Path(__file__).with_name("worker_process.py")
    arguments = [str(connection.settings_dict["NAME"]), str(settings.VAR), stop_at, str(marker)]
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "fdegym.settings"}
    return subprocess.Popen([sys.executable, str(script), *arguments], env=environment)


@pytest.mark.parametrize("phase", PHASES)
def test_a_worker_killed_in_any_phase_is_replaced_when_its_lease_is_over(phase, submit, alice, settings, tmp_path):
    """FC-88, FC-93"""
    submission = submit(alice, solution="reference/system")
    marker = tmp_path / "stands-still"
    worker = start_worker(settings, phase, marker)
    try:
        until(lambda: marker.exists() or worker.poll() is not None, "the worker comes there", within_s=60)
        assert worker.poll() is None
    finally:
        worker.kill()
        worker.wait()
    assert Grade.objects.count() == 0
    assert Submission.objects.get().state == SubmissionState.GRADING

    until(lambda: (sweep(), Grade.objects.exists())[1], "somebody grades it again", within_s=120)
    grade = Grade.objects.get()
    assert grade.kpi == 10.0
    assert (grade.kpi_baseline, grade.kpi_reference) == (-20.0, 10.0)
    submission.refresh_from_db()
    assert submission.attempts == 2
    assert submission.run.state == RunState.GRADED
    assert grading_runtime().adopt({"purpose": "grade"}) == []
    scratch = settings.VAR / "grading-scratch"
    assert not any(path.name.startswith(f"{worker.pid}-") for path in scratch.iterdir())


def test_a_real_grading_from_the_queue_to_the_grade_and_again(submit, alice, settings):
    submission = submit(alice, files={"shop/total.py": "import random\nprint(random.random())"})
    sweep()
    grade = Grade.objects.get()
    assert grade.kpi == 0.0
    assert str(grade.uplift) == "0.666667"  # silence is better than twice-wrong totals
    assert grade.replay["calls"] == 20
    assert grade.environment["sandbox"] == "bubblewrap"
    assert grade.period == "ten days of spring"
    again = regrade(submission)
    assert not again.differs
    assert (again.kpi, again.breakdown) == (grade.kpi, grade.breakdown)
