"""Replaying what was admitted: as many pairs of task and solution as fit into the time, others with every commit.

Two test files share the pairs, so that two processes can work on them. ``TEST_EVERYTHING=1`` replays all.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fdegym.authoring.admission.plays import Kept
from fdegym.authoring.admission.pool import Worker, services
from fdegym.authoring.admission.work import PLAY, Item
from fdegym.authoring.admission.worker import TRUSTING
from grading.anchors import AnchorsUnreadable, TaskAnchors, read_anchors
from scenarios.kit.load import Scenario, load_scenario
from tests.sampling import commit

ROOT = Path(__file__).resolve().parents[2]
BUDGET_S = 25.0  #: of each file, from the first play on


@dataclass(frozen=True)
class Pair:
    """A solution on a task, and what was admitted of it."""

    scenario: Scenario
    task: str
    name: str
    anchors: TaskAnchors

    def __str__(self) -> str:
        return f"{self.scenario.id}-{self.task}-{self.name}"


def _ready() -> Iterator[Scenario]:
    for manifest in sorted((ROOT / "scenarios").glob("*/scenario.toml")):
        scenario = load_scenario(manifest.parent)
        if scenario.config.status == "ready":
            yield scenario


def _admitted(scenario: Scenario) -> Mapping[str, TaskAnchors]:
    try:
        return read_anchors((scenario.folder / "anchors.json").read_text()).of_release(scenario.release)
    except (OSError, AnchorsUnreadable):
        return {}


def pairs(half: int) -> list[Pair]:
    """One half of what was admitted, in the commit's order.

    Nothing of a scenario that was not admitted as it is: that is said once, by ``test_admitted``.
    """
    seed = commit()
    found = []
    for scenario in _ready():
        for task, anchors in _admitted(scenario).items():
            found += [Pair(scenario, task, name, anchors) for name in anchors.solutions]

    def order(pair: Pair) -> bytes:
        return hashlib.sha256(f"{seed}\x1f{pair.scenario.release}\x1f{pair}".encode()).digest()

    return sorted(found, key=order)[half::2]


class Replays:
    """A worker of admission, and the time that its plays may take."""

    def __init__(self, place: Path) -> None:
        self._worker = Worker(place, TRUSTING)
        self._until = time.monotonic() + BUDGET_S

    def play(self, pair: Pair) -> dict[str, Any]:
        """The result of the pair; skips the test when the time is spent."""
        spent = time.monotonic() > self._until and os.environ.get("TEST_EVERYTHING") != "1"
        if spent:
            pytest.skip("the time for replays is spent; another commit replays others")
        item = Item(pair.scenario.id, PLAY, pair.name, pair.task, "", 0.0)
        answer = self._worker.do(item) or self._worker.do(item)
        assert answer is not None, "the worker died twice; see its log"
        assert "result" in answer, answer["failed"]
        result: dict[str, Any] = answer["result"]
        return result

    def close(self) -> None:
        self._worker.end(60)


def replaying(place: Path, every: list[Pair]) -> Iterator[Replays]:
    """For a fixture: services and a worker below ``place``, gone afterwards."""
    with services(place, sorted({pair.scenario.id for pair in every}), lambda _step: None):
        replays = Replays(place)
        try:
            yield replays
        finally:
            replays.close()


def assert_as_admitted(pair: Pair, result: dict[str, Any]) -> None:
    """Every figure is, to the last digit, what ``anchors.json`` says."""
    admitted = pair.anchors.solutions[pair.name]
    kept = Kept.from_json(result)
    figures = pair.anchors.figures_of(admitted.kind, kept.kpi, contact_cost=kept.contact_cost, incidents=kept.incidents)
    assert figures == admitted
