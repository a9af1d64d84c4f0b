"""A delivery that met a limit in production: the debriefing says which, and how much it was."""

from __future__ import annotations

import pytest

from fdegym.catalog.scenarios import get_scenario
from fdegym.pages.failures import failures_of
from grading.models import Grade


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("memory_limit", "2 × met its memory limit of 512 MB, or of 1,024 MB with all it started (of 9 calls)"),
        ("cpu_limit", "2 × used up its 60 s of CPU time (of 9 calls)"),
        ("wall_limit", "2 × ran out of time after 240 s (of 9 calls)"),
        ("exit", "2 × ended with an error (of 9 calls)"),
    ],
)
def test_a_failure_by_a_limit_names_the_limit(failure: str, words: str) -> None:
    config = get_scenario("bakery_orders").config
    replay = config.replay.model_copy(update={"call_memory_mb": 512, "call_cpu_s": 60})
    config = config.model_copy(
        update={"replay": replay, "limits": config.limits.model_copy(update={"memory_mb": 1024})}
    )
    grade = Grade(replay={"failures": {"close": {"calls": 9, "failures": {failure: 2}}}})
    assert [row["words"] for row in failures_of(grade, config)] == [words]


def test_of_another_release_no_limit_is_named() -> None:
    """Its limits may have been others."""
    grade = Grade(replay={"failures": {"close": {"failures": {"memory_limit": 1}}}})
    assert [row["words"] for row in failures_of(grade)] == ["1 × used up its memory"]
