"""The common battery of bypasses, played through the whole product. Admission plays all of it against every scenario."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fdegym.authoring.battery import entries
from grading.versions import replay_hash
from tests.sampling import sampled

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(900)]

#: What would hurt most, in every run of the tests; of the others some, and others with every change of the engines.
ALWAYS = [
    "forged_requests",
    "fork_bomb",
    "network",
    "other_processes",
    "outlives_its_call",
    "search_the_disk",
    "start_up_files",
]
NAMES = [entry.name for entry in entries()]
CHOSEN = sorted({*ALWAYS, *sampled([name for name in NAMES if name not in ALWAYS], 5, seed=replay_hash())})

Played = Callable[[list[str]], dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def plays(played: Played) -> dict[str, dict[str, Any]]:
    return played(CHOSEN)


@pytest.mark.parametrize("name", CHOSEN)
def test_a_bypass_is_withstood(plays: dict[str, dict[str, Any]], name: str) -> None:
    play = plays[name]
    assert play["problems"] == []
    # a host too busy to judge a call's wall clock gives no grade at all
    assert play["busy"] or play["score"] <= 0.05
    assert play["did"] or play["refused"]


def test_the_keeper_holds_nothing_more_than_before(plays: dict[str, dict[str, Any]]) -> None:
    assert {name: play["keeper_grew_by"] for name, play in plays.items() if play["keeper_grew_by"] > 0} == {}


def test_of_all_plays_the_site_keeps_submissions_and_records_alone(plays: dict[str, dict[str, Any]], var: Path) -> None:
    left = [path.name for folder in ("sandboxes", "grading") for path in (var / folder).glob("[!_]*")]
    left += [path.name for path in (var / "grading-scratch").rglob("*") if path.is_file()]
    left += [path.name for path in (var / "locks").glob("*")]
    assert left == []
    assert len(list((var / "submissions").iterdir())) == len(plays)
