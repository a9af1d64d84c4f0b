"""The commands of the README at a shell: the same delivery gives the same JSON, messages are matched, runs graded again."""

from __future__ import annotations

import json

import pytest

from tests.e2e.checkouts import refused

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(600)]


def played(stack, solution: str) -> dict:
    done = stack.manage("play", "first_delivery", "--solution", solution, "--json", "-", timeout_s=500)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_playing_a_solution_twice_gives_the_same_object_and_doing_nothing_exactly_nothing(stack):
    first = played(stack, "do_nothing")
    assert first["score"] == first["uplift"] == first["contact_cost"] == 0.0
    assert first["contacts"] == []
    assert played(stack, "do_nothing") == first


def test_the_reference_reaches_its_mark(stack):
    found = played(stack, "reference")
    assert found["score"] >= 0.95
    assert found["resolved"]
    assert found["incidents"] == []
    assert found["key_facts"]["released"] == sorted(found["key_facts"]["all"])


def test_messages_on_standard_input_are_matched_line_by_line(stack):
    lines = ["When a report was revised, which version counts?", "What is the weather like?"]
    done = stack.manage("match", "oil_npt", "--person", "pruett", "--json", given="\n".join(lines) + "\n")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["message"] for one in found] == lines
    assert found[0]["topics"]
    assert not found[1]["topics"]


def test_the_shipped_scenario_has_nothing_to_complain_about(stack):
    done = stack.manage("lint", "oil_npt")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("play", "oil_nothing", "--solution", "reference"), "There is no scenario"),
        (("play", "oil_npt", "--solution", "referrence"), "has no solution"),
        (("match", "oil_npt", "--person", "molefee"), "molefee"),
        (("regrade", "not-a-run"), "no submission"),
    ],
)
def test_a_wrong_word_is_answered_with_a_sentence(stack, arguments, words):
    done = stack.manage(*arguments)
    assert done.returncode != 0
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_start_from_the_same_place_is_refused(stack):
    refused(stack.start_in_vain(), "already running", str(stack.var))
