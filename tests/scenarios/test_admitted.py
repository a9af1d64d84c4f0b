"""Every scenario that is offered was admitted as it is: its anchors are of this very content, and what must hold holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from fdegym.authoring.admission.conditions import Played, failures
from grading.anchors import AnchorsFile, read_anchors
from scenarios.kit.load import Scenario, load_scenario
from scenarios.kit.phrasings import load_phrasings
from scenarios.kit.solutions import solutions_on
from stakeholders.matcher.encoder import shared_encoder
from stakeholders.matcher.fitted import SHIPPED, Fitted, content_of

ROOT = Path(__file__).resolve().parents[2] / "scenarios"
READY = [
    scenario
    for scenario in (load_scenario(manifest.parent) for manifest in sorted(ROOT.glob("*/scenario.toml")))
    if scenario.config.status != "draft"
]


def anchors_of(scenario: Scenario) -> AnchorsFile:
    return read_anchors((scenario.folder / "anchors.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("scenario", READY, ids=lambda scenario: scenario.id)
def test_the_anchors_are_of_this_release_and_cover_every_solution_of_every_task(scenario):
    anchors = anchors_of(scenario)
    assert anchors.release == scenario.release, "the scenario changed: run `make admit`"
    assert sorted(anchors.tasks) == sorted(scenario.config.offered) == sorted(scenario.task_ids)
    for name, task in anchors.tasks.items():
        assert sorted(task.solutions) == sorted(solutions_on(scenario, name))


@pytest.mark.parametrize("scenario", READY, ids=lambda scenario: scenario.id)
def test_what_admission_demands_of_figures_holds_for_what_it_wrote(scenario):
    assert [str(failure) for failure in failures(Played(scenario, anchors_of(scenario).tasks), whole=True)] == []


@pytest.mark.parametrize("scenario", READY, ids=lambda scenario: scenario.id)
def test_what_the_matcher_learnt_from_these_phrasings_is_shipped(scenario):
    content = content_of(load_phrasings(scenario.folder / "phrasings.toml"), shared_encoder())
    assert Fitted.read(scenario.folder / SHIPPED, content), "the phrasings changed: run `make admit`"


@pytest.mark.parametrize("scenario", READY, ids=lambda scenario: scenario.id)
def test_every_key_fact_of_every_task_has_its_price(scenario):
    for name, task in anchors_of(scenario).tasks.items():
        assert sorted(task.prices) == sorted(scenario.key_facts(name))
