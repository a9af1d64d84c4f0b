"""What lint says of trials, of hours where nobody keeps any, and of conversations that ask for what is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fdegym.authoring.lint import lint
from scenarios.kit.load import find_scenario
from tests.trials.trying_stall import write_stall

Told = Callable[[], list[str]]


@pytest.fixture
def stall(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    from grading import worlds
    from scenarios.kit.build import build

    folder = write_stall(tmp_path / "offered")
    settings.SCENARIO_DIRS, settings.WORLD_CACHE, settings.VAR = [folder.parent], tmp_path / "worlds", tmp_path
    monkeypatch.setattr(worlds, "build_in_sandbox", lambda runtime, scenario, *rest: build(scenario.folder, *rest))
    worlds.grading_runtime.cache_clear()
    yield folder
    worlds.grading_runtime.cache_clear()


@pytest.fixture
def told(stall: Path) -> Told:
    """What lint finds now, without that the toy has no phrasings and the like."""

    def run() -> list[str]:
        missing = ("the file is missing", "phrasings")
        found = [str(problem) for problem in lint(find_scenario(stall.name, [stall.parent]))]
        return [words for words in found if not words.endswith(missing)]

    return run


def add(path: Path, text: str) -> None:
    path.write_text(f"{path.read_text()}\n{text}\n")


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_trial_with_all_that_it_needs_is_right(told: Told) -> None:
    assert told() == []


@pytest.mark.parametrize(
    ("file", "name", "wanted"), [("world.py", "shadow", "world.shadow"), ("grader.py", "trial", "grader.trial")]
)
def test_a_trial_without_its_function_is_named(file: str, name: str, wanted: str, stall: Path, told: Told) -> None:
    replace(stall / file, f"def {name}(", f"def other_{name}(")
    assert told() == [f"{file}: [trial] needs {wanted}, see scenarios/kit/world.py"]
    add(
        stall / file,
        f"from scenarios.kit.elsewhere import anything as {name}" if name == "trial" else f"{name} = other_{name}",
    )
    assert told() == []


def test_prices_that_fall_are_refused_with_their_place(stall: Path, told: Told) -> None:
    from scenarios.kit.errors import ScenarioInvalid

    replace(stall / "scenario.toml", "prices = [0.03, 0.05]", "prices = [0.05, 0.03]")
    with pytest.raises(ScenarioInvalid, match=r"scenario.toml: trial.prices: .*costs as much as the one before"):
        told()


@pytest.mark.parametrize(
    ("sentence", "secret"),
    [
        ("Ada: you should {{ returns }} the goods.", "what returns is on some task"),
        ("Ada: SUBTRACT them.", "subtract, what returns is on some task"),
        ("Ada: returned goods are taken off the day’s total, you know.", "a sentence of fact F1"),
        ("Ada: this is not the kept task.", None),
        ("Ada: {subtract} evenings.", None),
        ("Ada: {evenings} evenings as on rule_value days.", "rule_value, a variant's angle"),
    ],
)
def test_a_sentence_that_tells_the_answer_is_named(sentence: str, secret: str | None, stall: Path, told: Told) -> None:
    replace(stall / "scenario.toml", '"Ada: I had {evenings} evenings without any total."', f'"{sentence}"')
    found = told()
    if secret is None:
        assert found == []
    else:
        assert found
        assert all("trial.sentences.missing: holds" in words and "never tells the answer" in words for words in found)
        assert any(secret in words for words in found)


def test_what_admission_is_told_to_hide_may_not_be_said_either(stall: Path, told: Told) -> None:
    add(stall / "scenario.toml", "[admission]\nhidden = ['cash b.x']")
    assert {words.split(": holds")[0] for words in told()} == {
        "scenario.toml: trial.sentences.wrong",
        "scenario.toml: trial.quiet",
    }


def test_a_fact_that_is_missing_in_a_sentence_is_named(stall: Path, told: Told) -> None:
    replace(stall / "scenario.toml", "evenings without any total", "evenings without {{ nothing }}")
    assert told() == ["scenario.toml: trial.sentences.missing line 1: 'nothing' is undefined"]


def test_hours_and_waits_need_a_calendar(stall: Path, told: Told) -> None:
    for number, trigger in enumerate(
        ["after_hours = 2", "after_waits = 1", "after_contacts = 1, delay_h = 2", "after_contacts = 1"]
    ):
        letter = f'[[inbox]]\nid = "l{number}"\nsender = "ada"\nwhen = {{ {trigger} }}\ntext = "Well?"'
        add(stall / "stakeholders.toml", letter)
    assert told() == [
        f"stakeholders.toml: inbox[{number}].when: hours and waits need a calendar in scenario.toml"
        for number in range(3)
    ]


def test_a_letter_follows_and_carries_only_facts_that_there_are(stall: Path, told: Told) -> None:
    letter = '[[inbox]]\nid = "l"\nsender = "ada"\nwhen = { after_fact = "F8" }\ntext = "Well?"\nfacts = ["F1", "F9"]'
    add(stall / "stakeholders.toml", f'{letter}\n[inbox.on]\nmars = "Well!"')
    assert told() == [
        "stakeholders.toml: inbox[0]: F8 has no text in facts.toml",
        "stakeholders.toml: inbox[0]: F9 has no text in facts.toml",
        "stakeholders.toml: inbox[0].on: no such task: mars",
    ]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ('trial = true\nreports = ["quiet", "wrong"]', None),
        ('trial = true\nreports = ["answer"]', "reports no sentence of [trial]: answer"),
        ('wait = "1d"', "waiting needs a calendar in scenario.toml"),
    ],
)
def test_a_conversation_asks_for_nothing_that_is_not_there(
    step: str, words: str | None, stall: Path, told: Told
) -> None:
    reference = stall / "solutions" / "reference"
    replace(reference / "solution.toml", '"none"', '"own"')
    (reference / "conversation.toml").write_text(f"[[steps]]\n{step}\n")
    assert told() == ([] if words is None else [f"conversation.toml: reference, steps[0]: {words}"])


def test_a_trial_in_a_conversation_needs_one_in_the_scenario(stall: Path, told: Told) -> None:
    reference = stall / "solutions" / "reference"
    replace(reference / "solution.toml", '"none"', '"own"')
    (reference / "conversation.toml").write_text("[[steps]]\ntrial = true\n")
    text = (stall / "scenario.toml").read_text()
    (stall / "scenario.toml").write_text(text[: text.index("[trial]")])
    assert told() == ["conversation.toml: reference, steps[0]: a trial needs [trial] in scenario.toml"]
