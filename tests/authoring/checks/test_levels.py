"""L0 to L3 differ only in the instruction."""

from __future__ import annotations

import dataclasses

import pytest

from fdegym.authoring.checks import levels
from fdegym.authoring.checks.levels import LEVELS_CHECK

pytestmark = pytest.mark.sandbox


def test_four_instructions_over_the_same_workspace_are_right(author):
    for finding in author.check(LEVELS_CHECK).values():
        assert finding.passed, finding.words


def test_two_levels_that_say_the_same_are_told(author):
    author.write("briefs/L1.md", "All of it.\n")
    finding = author.check(LEVELS_CHECK, "original")["original"]
    assert not finding.passed
    assert "briefs/L0.md and briefs/L1.md say the same" in finding.words


def test_a_vague_level_may_be_the_sponsors_request_where_the_author_says_so(author):
    author.write("briefs/L2.md", "Do as I say.\n")
    assert "say l2_is_l3 = true in scenario.toml" in author.check(LEVELS_CHECK, "original")["original"].words
    author.write("scenario.toml", "l2_is_l3 = true\n" + (author.folder / "scenario.toml").read_text())
    assert author.check(LEVELS_CHECK, "original")["original"].passed
    author.write("briefs/L2.md", "Vaguely again.\n")
    assert "says l2_is_l3, and briefs/L2.md and briefs/L3.md differ" in author.check(LEVELS_CHECK)["original"].words


def test_a_workspace_that_hangs_on_the_level_is_told(author, monkeypatch):
    whole = levels.materials_of

    def generous(run, task):
        made = whole(run, task)
        return dataclasses.replace(made, environment={**made.environment, "HINT": "1"}) if run.level == "L0" else made

    monkeypatch.setattr(levels, "materials_of", generous)
    finding = author.check(LEVELS_CHECK, "original")["original"]
    assert not finding.passed
    assert "the workspace of L1 is made of other things than that of L0" in finding.words


def test_a_practical_part_of_its_own_is_told():
    briefs = {level: f"{level}{levels.FOOTER}hand in" for level in ("L0", "L1", "L2", "L3")}
    assert levels.instruction_problems(briefs, l2_is_l3=False) == []
    problems = levels.instruction_problems({**briefs, "L3": f"L3{levels.FOOTER}hand in soon"}, l2_is_l3=False)
    assert problems == ["the practical part at the end of TASK.md is not the same at every level"]
