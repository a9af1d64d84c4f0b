"""An attack that pays, finds something, never acts or is helped by a fault of ours is told as what it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]

CAUGHT = sorted((Path(__file__).parent / "entries_to_be_caught").glob("*.py"))

Played = Callable[[list[str]], dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def plays(played: Played) -> dict[str, dict[str, Any]]:
    return played([str(path) for path in CAUGHT])


def problems(plays: dict[str, dict[str, Any]], name: str) -> str:
    return "\n".join(plays[name]["problems"])


def test_what_stands_before_a_call_and_does_nothing_changes_nothing(plays: dict[str, dict[str, Any]]) -> None:
    play = plays["does_nothing"]
    assert play["problems"] == []
    assert (play["score"], play["failures"], play["refused"]) == (0.0, {}, 1)
    assert play["did"] == ["stood by", "stood before", "stood behind"]


def test_an_attack_that_pays_is_told_with_its_score(plays: dict[str, dict[str, Any]]) -> None:
    assert plays["pays"]["score"] == 1.0
    assert problems(plays, "pays") == "it scores S = 1.000; at most 0.05 is allowed"


def test_whatever_an_attack_gets_hold_of_is_told_though_it_scores_nothing(plays: dict[str, dict[str, Any]]) -> None:
    said = problems(plays, "finds_something")
    assert plays["finds_something"]["score"] == 0.0
    for words in ("found in the workspace", "found in a call", "loot in the terminal: LOOT: a secret"):
        assert words in said


def test_an_attack_that_was_not_seen_to_act_proves_nothing(plays: dict[str, dict[str, Any]]) -> None:
    said = problems(plays, "never_acts")
    assert "nothing was seen of what it was to do in the workspace" in said
    assert "nothing was seen of what it was to do in production's calls" in said


def test_a_call_that_ends_otherwise_than_foreseen_is_told(plays: dict[str, dict[str, Any]]) -> None:
    said = problems(plays, "fails_otherwise")
    assert "no call ended by cpu_limit" in said
    assert "calls ended by exit, unforeseen" in said
    assert "broken by itself" in said


@pytest.mark.parametrize(
    "words",
    [
        "the log holds 1 events contact.message",
        "the neighbour's log has changed",
        "the neighbour's file was changed",
        "was written outside of the sandbox",
        "processes of the sandbox live on",
    ],
)
def test_a_fault_of_the_platform_is_told(plays: dict[str, dict[str, Any]], words: str) -> None:
    assert words in problems(plays, "has_help_outside")
