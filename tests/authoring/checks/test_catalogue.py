"""How many ways of going wrong were tried, and how many scenarios share a pattern."""

from __future__ import annotations

from fdegym.authoring.checks.catalogue import PATTERNS, STRATEGIES, judge_patterns, judge_strategies


def test_a_scenario_with_too_few_shortcuts_and_bypasses_is_told_how_many_are_wanted(author):
    finding = author.check(STRATEGIES)[""]
    assert not finding.passed
    assert "0 shortcuts where at least 8 are wanted" in finding.words
    assert "0 bypasses where at least 3 are wanted" in finding.words


def test_eight_shortcuts_and_three_bypasses_are_enough():
    kinds = {f"s{n}": "shortcut" for n in range(8)} | {f"b{n}": "bypass" for n in range(3)}
    assert judge_strategies(kinds).passed
    assert not judge_strategies({**kinds, "s0": "ablation"}).passed


def test_a_pattern_is_crowded_from_three_scenarios_on():
    assert judge_patterns({"one": "a", "two": "a"}, "one").passed
    assert judge_patterns({"one": "a", "two": "b", "three": "c"}, "one").passed
    crowded = judge_patterns({"one": "a", "two": "b", "three": "a"}, "one")
    assert not crowded.passed
    assert "2 of 3 scenarios have the problem pattern a (one, three)" in crowded.words


def test_patterns_are_counted_over_every_scenario_that_is_ready(author, settings, tmp_path):
    assert author.check(PATTERNS)[""].figures["scenarios"] == 1
    for name, status in (("second_stall", "ready"), ("third_stall", "ready"), ("fourth_stall", "draft")):
        folder = author.folder.parent / name
        folder.mkdir()
        (folder / "facts.toml").write_text((author.folder / "facts.toml").read_text())
        text = (author.folder / "scenario.toml").read_text().replace('"scenario_tiny"', f'"{name}"')
        (folder / "scenario.toml").write_text(f'status = "{status}"\n{text}')
    finding = author.check(PATTERNS)[""]
    assert finding.figures == {"pattern": "a", "scenarios": 3, "of_this_pattern": 3}
    assert not finding.passed
