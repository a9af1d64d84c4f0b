"""The span between the system as found and the reference, beside the truth, other seeds and chance."""

from __future__ import annotations

import pytest

from fdegym.authoring.checks import ends
from fdegym.authoring.checks.ends import CHANCE, ORACLE, SPREAD, Ends, judge_chance, judge_oracle, judge_spread
from grading.anchors import TaskAnchors

pytestmark = pytest.mark.sandbox


def test_a_reference_that_does_what_the_truth_says_is_all_that_is_possible(author):
    finding = author.check(ORACLE, "original")["original"]
    assert finding.passed
    assert finding.figures == {"kpi_oracle": 10.0, "share": 1.0}


def test_a_reference_far_from_the_truth_is_told_how_far(author):
    author.replace("grader.py", "points = sum(1 if", "points = sum(4 if")
    finding = author.check(ORACLE, "original")["original"]
    assert not finding.passed
    assert finding.figures == {"kpi_oracle": 40.0, "share": 0.5}
    assert "gains 0.500 of what somebody who knows the truth at decision time would gain" in finding.words


def test_a_scenario_without_an_oracle_is_told_to_have_one_or_to_say_why(author):
    author.replace("grader.py", "def oracle", "def prophecy")
    finding = author.check(ORACLE, "original")["original"]
    assert not finding.passed
    assert "has no attribute 'oracle'" in finding.words
    assert "no_oracle" in finding.words
    author.append("scenario.toml", '\n[admission]\nno_oracle = "Nobody knows where the goods lie."\n')
    excused = author.check(ORACLE, "original")["original"]
    assert excused.passed
    assert excused.words == "none: Nobody knows where the goods lie."


def test_an_oracle_that_raises_is_told_with_the_end_of_its_traceback(author):
    author.replace("grader.py", "return told(production, production.truth)", 'raise KeyError("no such evening")')
    assert "no such evening" in author.check(ORACLE, "original")["original"].words


@pytest.mark.parametrize("kpi", [-30.0, -20.0])
def test_an_oracle_that_gains_nothing_is_none(kpi):
    finding = judge_oracle("original", TaskAnchors(-20.0, 10.0), kpi)
    assert not finding.passed
    assert "who knows the truth must gain" in finding.words


def test_a_kpi_that_should_be_low_is_judged_by_the_same_share():
    assert judge_oracle("original", TaskAnchors(100.0, 12.0), 10.0).passed
    assert not judge_oracle("original", TaskAnchors(100.0, 40.0), 10.0).passed


def test_a_span_is_measured_on_worlds_of_other_seeds(author, monkeypatch):
    monkeypatch.setattr(ends, "OTHER_SEEDS", 2)
    author.append("world.py", "\n    def evenings(self):\n        return 1 + int(self.days[0][0] * 7919 % DAYS)\n")
    author.replace("grader.py", "    for day in range(DAYS):", "    for day in range(production.evenings()):")
    finding = author.check(SPREAD, "original")["original"]
    spans = finding.figures["spans_of_other_seeds"]
    assert len(spans) == 2
    assert all(span % 3 == 0 and 3 <= span <= 30 for span in spans)
    assert len({*spans, finding.figures["span"]}) > 1, "other seeds bring other evenings"
    assert not finding.passed
    assert "times its standard deviation over 2 other seeds" in finding.words
    assert "Hold out more decisions" in finding.words


@pytest.mark.parametrize(
    ("others", "passed"),
    [([30, 30, 30], True), ([29, 30, 31], True), ([25, 30, 35], False), ([30, 30, -30], False), ([0, 0, 0], False)],
)
def test_a_span_is_ten_times_its_deviation_and_of_one_sign(others, passed):
    assert judge_spread("original", 30.0, [Ends(0.0, float(span)) for span in others]).passed is passed


def test_deliveries_that_guess_get_nothing(author, monkeypatch):
    monkeypatch.setattr(ends, "DRAWS", 40)
    author.replace("grader.py", "if rng.random() < 0.5 else", "if day == 0 and rng.random() < 0.5 else")
    finding = author.check(CHANCE, "original")["original"]
    assert finding.passed, finding.words
    assert finding.figures["draws"] == 40
    assert (finding.figures["highest"], finding.figures["different"]) == (0.1, 2)


def test_guesses_that_pay_are_told_how_often(author, monkeypatch):
    monkeypatch.setattr(ends, "DRAWS", 40)
    author.replace("grader.py", "if rng.random() < 0.5 else", "if rng.random() < 0.8 else")
    finding = author.check(CHANCE, "original")["original"]
    assert not finding.passed
    assert "of 40 deliveries that guess score above 0.1" in finding.words


def test_draws_that_are_all_the_same_are_no_draws(author, monkeypatch):
    monkeypatch.setattr(ends, "DRAWS", 5)
    author.replace("grader.py", "if rng.random() < 0.5 else", "if day < 1 else")
    finding = author.check(CHANCE, "original")["original"]
    assert not finding.passed
    assert "draw each decision from `rng`" in finding.words


def test_one_lucky_draw_in_a_hundred_is_let_pass_and_two_are_not():
    assert judge_chance("original", [0.5, *[n / -1000 for n in range(99)]]).passed
    assert not judge_chance("original", [0.5, 0.6, *[n / -1000 for n in range(98)]]).passed


def test_chance_is_not_kept_down_by_an_approval_that_it_lacks(author, monkeypatch):
    """``changed_unasked`` is an incident only without an approval: a guess with it must fail all the same."""
    monkeypatch.setattr(ends, "DRAWS", 20)
    author.replace("grader.py", "if rng.random() < 0.5 else", "if rng.random() < 0.8 else")
    author.replace(
        "grader.py", "Outcome(float(points))", 'Outcome(float(points), (IncidentFound("changed_unasked", ""),))'
    )
    assert not author.check(CHANCE, "original")["original"].passed
    author.replace("grader.py", '"changed_unasked", "")', '"letter_to_stranger", "")')
    kept_down = author.check(CHANCE, "original")["original"]
    assert kept_down.figures["highest"] <= 0
