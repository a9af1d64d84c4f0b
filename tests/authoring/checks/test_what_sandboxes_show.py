"""Seen from inside: neither the workspace nor the deployment shows scenarios, environment or other worlds."""

from __future__ import annotations

import dataclasses
import shutil
import sysconfig
from pathlib import Path

import pytest

from fdegym.authoring.checks import isolation
from fdegym.authoring.checks.isolation import ISOLATION
from workspaces.runtime.base import Mount

pytestmark = pytest.mark.sandbox


@pytest.fixture
def mounted(monkeypatch):
    """``mounted(workspace=…, deployment=…)``: what is changed of the specification before a sandbox is made of it."""
    real = isolation.look_around

    def change(where: str, **changes) -> None:
        def look(spec, asked):
            is_workspace = spec.hostname != "production"
            if is_workspace == (where == "the workspace"):
                mounts = (*spec.mounts, *changes.get("mounts", ()))
                spec = dataclasses.replace(spec, **{**changes, "mounts": mounts})
            return real(spec, asked)

        monkeypatch.setattr(isolation, "look_around", look)

    return change


def test_both_sandboxes_show_what_they_should_and_nothing_else(author):
    finding = author.check(ISOLATION, "original")["original"]
    assert finding.passed, finding.words
    assert finding.figures["contents_looked_for"] > 50


def test_a_scenario_shown_under_another_name_is_found_by_its_content(author, mounted, tmp_path):
    copied = tmp_path / "elsewhere"
    copied.mkdir()
    shutil.copy(author.folder / "facts.toml", copied / "innocent.txt")
    mounted("the deployment", mounts=[Mount(copied, "/opt/more")])
    finding = author.check(ISOLATION, "original")["original"]
    assert not finding.passed
    assert "the deployment shows the scenario's facts.toml as /opt/more/innocent.txt" in finding.words
    assert "the workspace" not in finding.words


def test_the_world_of_another_task_is_found(author, mounted):
    from grading.worlds import ensure_world
    from scenarios.kit.load import load_scenario

    other = ensure_world(load_scenario(author.folder), "kept")
    mounted("the workspace", mounts=[Mount(other.world, "/opt/more")])
    finding = author.check(ISOLATION, "original")["original"]
    assert not finding.passed
    assert "the workspace shows a world's" in finding.words
    assert "as /opt/more/visible/data/day_" in finding.words


def test_a_readable_path_of_the_host_is_told(author, mounted):
    site = Path(sysconfig.get_path("purelib"))
    mounted("the workspace", mounts=[Mount(site, str(site))])
    finding = author.check(ISOLATION, "original")["original"]
    assert f"the workspace can read the host's {site}" in finding.words


def test_a_package_that_can_be_imported_is_told(author):
    from grading.worlds import ensure_world
    from scenarios.kit.load import load_scenario

    task = ensure_world(load_scenario(author.folder), "original")
    seen = {"files": [], "paths": [], "modules": ["numpy"], "told": {}}
    found = isolation.visible_from_inside(task, isolation.forbidden_to(task), "the workspace", seen)
    assert found == ["Python in the workspace can import numpy"]


def test_a_variable_that_names_the_task_is_told(author, mounted):
    mounted("the workspace", environment={"CUSTOMER_TASK": "task=original"})
    finding = author.check(ISOLATION, "original")["original"]
    assert not finding.passed
    assert "the workspace tells original, a task's name by" in finding.words
