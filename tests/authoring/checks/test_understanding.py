"""Messages are understood alike on another machine."""

from __future__ import annotations

import pytest

from fdegym.authoring.checks import understanding
from fdegym.authoring.checks.understanding import (
    UNDERSTANDING,
    judge_understanding,
    understood_elsewhere,
    understood_here,
)
from grading.worlds import ensure_world
from scenarios.kit.load import load_scenario

pytestmark = pytest.mark.sandbox
PHRASINGS = """
[topics."ada/returns"]
examples = ["What happens with goods that come back?", "Are returns taken off the total?", "Who takes returned goods?"]
examples_zh = ["退回来的货怎么办？"]
tests = ["Do you take back what was bought?"]

[topics."ada/hours"]
examples = ["When does the stall open?", "Until what time are you there?", "Which days do you sell?"]
examples_zh = ["你们几点开门？"]
tests = ["At what hour do you close?"]

[negatives]
off_topic = ["Is it going to rain tomorrow?"]
"""
TOPIC = """
[[stakeholders.topics]]
id = "{name}"
about = "{name}"
answer = "So it is."
"""
ASKED = [("ada", "Are goods that were brought back taken off the total?"), ("ada", "When do you open?")]
CONVERSATION = "".join(f'[[steps]]\nto = "{person}"\ntext = "{text}"\n' for person, text in ASKED)


@pytest.fixture
def stall(author):
    author.replace("stakeholders.toml", 'always = "Just make it right."', 'fallback = "Not now."')
    author.append("stakeholders.toml", TOPIC.format(name="returns") + TOPIC.format(name="hours"))
    author.write("phrasings.toml", PHRASINGS)
    author.replace("solutions/reference/solution.toml", '"none"', '"own"')
    author.write("solutions/reference/conversation.toml", CONVERSATION)
    return author


def test_the_references_messages_are_understood_alike(stall):
    findings = stall.check(UNDERSTANDING)
    assert set(findings) == {"original", "kept"}
    for finding in findings.values():
        assert finding.passed, finding.words
        assert finding.figures["messages"] == 2


def test_both_matchers_really_understand(stall):
    scenario = load_scenario(stall.folder)
    ensure_world(scenario, "original")
    here, there = (find(scenario, "original", ASKED) for find in (understood_here, understood_elsewhere))
    assert [answer["topics"][0][0] for answer in here] == ["ada/returns", "ada/hours"]
    assert here == there


def test_phrasings_that_cannot_be_read_are_told_in_words(stall):
    scenario = load_scenario(stall.folder)
    stall.write("phrasings.toml", "not toml")
    with pytest.raises(understanding.MatcherSilent, match="matcher of scenario_tiny ended"):
        understood_elsewhere(scenario, "original", ASKED)


def answer(topic: str, score: float) -> dict[str, object]:
    return {"topics": [[topic, "all of it"]], "rejected": None, "small_talk": False, "scores": [[topic, score]]}


def test_a_message_that_another_machine_takes_for_something_else_is_told():
    finding = judge_understanding("original", ASKED[:1], [answer("ada/returns", 0.8)], [answer("ada/hours", 0.8)])
    assert not finding.passed
    assert "understood otherwise: 'Are goods that were brought back" in finding.words


@pytest.mark.parametrize(("above", "close"), [(0.0, True), (0.002, True), (-0.002, True), (0.003, False)])
def test_a_score_close_to_a_threshold_is_reported(monkeypatch, above, close):
    monkeypatch.setattr(understanding, "thresholds", lambda: [0.6])
    same = [answer("ada/returns", 0.6 + above)]
    finding = judge_understanding("original", ASKED[:1], same, same)
    assert finding.passed
    assert bool(finding.figures["close_to_a_threshold"]) is close


def test_the_thresholds_are_the_matchers_own():
    assert all(0 < limit < 1 for limit in understanding.thresholds())
    assert len(understanding.thresholds()) >= 3
