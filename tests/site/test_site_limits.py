"""A delivery that met a limit in production: the debriefing says which, and how much it was."""

from __future__ import annotations

import pytest

from fdegym.catalog.scenarios import get_scenario
from fdegym.pages.failures import failures_of, place_of
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


TRACEBACK = """Traceback (most recent call last):
  File "/usr/lib/python3.11/runpy.py", line 196, in _run_module_as_main
    return _run_code(code, main_globals, None,
  File "/workspace/system/npt/close.py", line 41, in claims
    rate = rates["HD-11/2027-02 4.5 h"]
           ~~~~~^^^^^^^^^^^^^^^^^^^^^^^
KeyError: 'HD-11/2027-02 4.5 h'
"""


def test_of_a_program_that_ended_with_an_error_place_and_kind_are_told() -> None:
    assert place_of(TRACEBACK) == "system/npt/close.py, line 41: KeyError"


@pytest.mark.parametrize(
    "printed", ["row 1: 4.5 h\nrow 2: 2.0 h\n", "ValueError: row 1: 4.5 h\n", "", 'File "x", line 3']
)
def test_what_else_it_prints_is_not_shown_for_it_has_read_the_held_out_data(printed: str) -> None:
    assert place_of(printed) == ""
    assert "4.5" not in place_of(printed + TRACEBACK + printed)
