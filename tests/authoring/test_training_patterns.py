"""A scenario for training crowds no problem pattern, neither at its own admission nor at another's."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from fdegym.authoring.checks.catalogue import count_patterns
from scenarios.kit.load import Scenario, load_scenario
from tests.grading.sides import TINY


@pytest.fixture
def catalogue(settings: Any, tmp_path: Path) -> Path:
    """Three scenarios of one pattern, ready all of them."""
    settings.SCENARIO_DIRS = [tmp_path]
    for name in ("first", "second", "third"):
        shutil.copytree(TINY, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        config = tmp_path / name / "scenario.toml"
        config.write_text(config.read_text().replace(TINY.name, name))
    return tmp_path


def make_training(catalogue: Path, name: str) -> Scenario:
    config = catalogue / name / "scenario.toml"
    config.write_text(config.read_text().replace("sponsor =", 'status = "training"\nsponsor =', 1))
    return load_scenario(catalogue / name)


def test_three_of_three_are_too_many(catalogue: Path) -> None:
    (finding,) = count_patterns(load_scenario(catalogue / "first"), ["original"])
    assert not finding.passed


def test_one_for_training_is_not_counted_among_the_others(catalogue: Path) -> None:
    make_training(catalogue, "third")
    (finding,) = count_patterns(load_scenario(catalogue / "first"), ["original"])
    assert finding.figures["scenarios"] == 2


def test_one_for_training_is_held_against_no_pattern(catalogue: Path) -> None:
    (finding,) = count_patterns(make_training(catalogue, "third"), ["original"])
    assert finding.passed
