"""Where the two ends of U come from: admission's figures for this very release, else measured once and kept."""

from __future__ import annotations

import shutil

import pytest

from grading import anchoring
from grading.anchors import AnchorsFile, TaskAnchors, write_anchors
from grading.measure import Measured
from grading.replay import GradedReplay, no_progress
from grading.worlds import ensure_world
from scenarios.kit.load import load_scenario
from tests.grading.sides import TINY


@pytest.fixture
def task(stall, tmp_path):
    """A task of a copy of the tiny scenario, whose anchors.json a test may write."""
    folder = tmp_path / "authored" / TINY.name
    shutil.copytree(TINY, folder)
    return ensure_world(load_scenario(folder), "original")


@pytest.fixture
def measured(monkeypatch):
    """Replays come to −20 with the system as found and to 10 with the reference; the list says what was replayed."""
    replayed = []

    def measure(task, system, *, progress=no_progress):
        for done in (0, 5, 10):
            progress(done, 10, f"day {done}")
        text = (system / "shop" / "total.py").read_text()
        replayed.append("as found" if "abs(amount)" in text else "reference")
        kpi = -20.0 if replayed[-1] == "as found" else 10.0
        return Measured(GradedReplay(kpi, (), (), "", 1.0, 1.0, 20), {})

    monkeypatch.setattr(anchoring, "measure", measure)
    return replayed


def admitted(task, **changes):
    values = {
        "scenario": task.scenario.id,
        "release": task.scenario.release,
        "package": "1",
        "tasks": {"original": TaskAnchors(-1.0, 1.0)},
    }
    (task.scenario.folder / "anchors.json").write_text(write_anchors(AnchorsFile(**{**values, **changes})))


def test_admitted_figures_of_this_release_are_used_and_nothing_is_replayed(task, measured):
    admitted(task)
    assert anchoring.task_anchors(task) == TaskAnchors(-1.0, 1.0)
    assert measured == []


def test_a_scenario_under_authoring_is_measured_once(task, measured):
    for _ in range(2):
        anchors = anchoring.task_anchors(task)
        assert (anchors.kpi_baseline, anchors.kpi_reference) == (-20.0, 10.0)
    assert measured == ["as found", "reference"]


def test_whoever_waits_for_both_sees_one_progress_that_never_goes_back(task, measured):
    seen = []
    anchoring.task_anchors(task, progress=lambda done, total, what: seen.append((done, total)))
    assert seen == [(0, 20), (5, 20), (10, 20), (10, 20), (15, 20), (20, 20)]


@pytest.mark.parametrize("change", [{"release": "another"}, {"tasks": {"kept": TaskAnchors(-1.0, 1.0)}}])
def test_figures_of_another_release_or_task_are_not_used(task, measured, change):
    admitted(task, **change)
    assert anchoring.task_anchors(task).kpi_reference == 10.0


def test_a_salted_site_measures_its_own_worlds_and_keeps_them_apart(task, measured, settings):
    admitted(task)
    settings.WORLD_SALT = "one"
    assert anchoring.task_anchors(task).kpi_reference == 10.0
    settings.WORLD_SALT = "two"
    anchoring.task_anchors(task)
    assert len(measured) == 4


@pytest.mark.parametrize("text", ["", "{", '{"kpi_baseline": 1}', '{"kpi_baseline": null, "kpi_reference": 2}'])
def test_a_broken_cache_is_measured_anew(task, measured, settings, text):
    anchoring.task_anchors(task)
    for path in (settings.CACHE_DIR / "anchors").iterdir():
        path.write_text(text)
    assert anchoring.task_anchors(task).kpi_baseline == -20.0
    assert len(measured) == 4


def test_an_unreadable_anchors_file_is_not_used(task, measured):
    (task.scenario.folder / "anchors.json").write_text("{}")
    assert anchoring.task_anchors(task).kpi_baseline == -20.0


def test_the_files_under_measurement_are_removed(task, measured, settings):
    anchoring.task_anchors(task)
    assert not any((settings.VAR / "grading-scratch").rglob("system-*"))
