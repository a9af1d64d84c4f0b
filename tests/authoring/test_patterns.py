"""Patterns of identifiers are read by one process for everybody: none may have too many ways to read a message."""

from __future__ import annotations

import re
import tomllib

import pytest
from django.conf import settings

from fdegym.authoring.patterns import MOST_WAYS, ways_to_read


@pytest.mark.parametrize(
    "pattern",
    [
        r"HO(\d+-?)+Z",
        r"(?:[a-z]*)*1",
        r"(a|aa)+b",
        r"(a|a?)+b",
        r"\d+-?\d+-?\d+Z",
        r"(\w+\s?){2,}x",
        r"(?=(a+)+b)a",
        r"(?:\d{1,64}){1,64}Z",
        r"(?>(a+)+)b",
        r"(x)?(?(1)(a+)+|b)",
    ],
)
def test_a_pattern_that_one_message_can_keep_busy_is_told(pattern: str) -> None:
    re.compile(pattern)
    assert ways_to_read(pattern) > MOST_WAYS


@pytest.mark.parametrize(
    ("pattern", "ways"),
    [("HO-1", 1), (r"HO[- ]?\d{4}", 2), (r"\d{1,3}", 3), ("a|bc?|d", 4), (r"(?:-\d{2}){0,5}", 6), (r"(?:a?b){2}", 4)],
)
def test_the_ways_are_counted(pattern: str, ways: int) -> None:
    assert ways_to_read(pattern) == ways


def test_no_shipped_scenario_needs_many() -> None:
    told = []
    for manifest in (settings.ROOT / "scenarios").glob("*/scenario.toml"):
        for kind in tomllib.loads(manifest.read_text()).get("records", {}).values():
            told += [ways_to_read(text) for text in [kind.get("pattern", ""), *kind.get("fields", {}).values()]]
    assert told
    assert max(told) < 1000
