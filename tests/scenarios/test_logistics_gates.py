"""What opens the gates of Quillon Freight's people, in English and Chinese, and what its conversations release and cost."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import scenarios
from scenarios.kit.load import load_scenario, load_stakeholders
from scenarios.kit.render import render_tree
from stakeholders.engine import Message, due_letters, reply
from stakeholders.gates import Heard, evaluate
from stakeholders.script import Script, compile_script
from stakeholders.state import State
from stakeholders.terms import SpokenText

SCENARIO = load_scenario(Path(scenarios.__path__[0]) / "logistics_claims")
WITH_R, OURS, HAULED, NEW_DEPOT = "QF-7741203", "QF-7650014", "QF-7719950", "QF-7802611"
RECORDS = {
    "claim": ["CL26-104417", "CL26-104418"],
    "shipment": [WITH_R, OURS, HAULED, NEW_DEPOT],
    "letter": ["RL26-0138"],
}
GROUPS = {
    "with_r": {"shipment": [WITH_R]},
    "hauled": {"shipment": [HAULED], "claim": ["CL26-104417"], "letter": ["RL26-0138"]},
    "new_warehouse": {"shipment": [NEW_DEPOT]},
}
CHOSEN = {"ex_r": WITH_R, "ex_haulier": HAULED, "ex_heavy": NEW_DEPOT}


@functools.cache
def script(task: str = "original") -> Script:
    facts = {**SCENARIO.facts_of(task), **CHOSEN}
    return compile_script(SCENARIO.config, load_stakeholders(SCENARIO, facts), facts, task, RECORDS, GROUPS)


def opens(topic: str, message: str, task: str = "original") -> bool:
    """Whether the message, all of it heard as being about this topic, meets its gate."""
    person_id, _, topic_id = topic.partition("/")
    found = next(topic for topic in script(task).people[person_id].topics if topic.id == topic_id)
    heard = Heard(script(task).reader.read(message), (SpokenText.of(message),))
    return evaluate(found.gate, [heard], script(task).gates).met


@pytest.mark.parametrize("task", SCENARIO.task_ids)
def test_the_script_of_every_task_compiles(task: str) -> None:
    assert len(script(task).people) == 10
    assert len(script(task).inbox) == (3 if task == "counsel" else 2)


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("I read the 2019 and the 2025 terms: which notice period applies to key accounts?", True),
        ("terms_2025.md, 3.1: for everybody?", True),
        ("Do the old terms still hold?", True),
        ("QF-GTC: General Terms of Carriage, March 2025. How many days?", True),
        ("按2025年条款，大客户的通知期是几天？", True),
        ("How many days do key accounts have?", False),
        ("The framework summary says as agreed. How long is that?", False),
        ("It was delivered in 2025, how many days do they have?", False),
        ("通知期是几天？", False),
    ],
)
def test_okonkwo_speaks_to_paper(message: str, met: bool) -> None:
    assert opens("okonkwo/notice", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        (f"Shipment {WITH_R} has POD code R with 'two cartons crushed': refused or reserved?", True),
        ("qf 7741203, code R, what is it?", True),
        (f"{WITH_R}的签收代码R是什么意思？", True),
        (f"{OURS} was signed with C. What is R then?", False),
        ("What does R mean?", False),
        ("QF-7741299 has code R, what does it mean?", False),
        ("CL26-104417 has code R, what does it mean?", False),
        (f"{WITH_R}, {OURS}, {HAULED}: which of them is R, and why?", False),
    ],
)
def test_haugland_looks_at_a_receipt_with_an_r(message: str, met: bool) -> None:
    assert opens("haugland/pod", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        (f"For {HAULED} the hub took it over damaged from the haulier: when can we charge them?", True),
        ("Would you have charged the haulier on CL26-104417?", True),
        ("Why was RL26-0138 rejected?", True),
        ("RL26-0138为什么被拒？", True),
        (f"{OURS} came in broken, whom do we charge?", False),
        ("CL26-104418 is about breakage, whom do we charge?", False),
        ("When can a haulier be charged, and until when?", False),
        ("RL26-0999 was rejected, why?", False),
    ],
)
def test_wolny_wants_a_case_on_which_a_haulier_drove(message: str, met: bool) -> None:
    assert opens("wolny/recourse", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("Which claims do you need to see, is P1 yours?", True),
        ("Who decides where the fotos are inconclusive?", True),
        ("证据存疑的归谁？", True),
        ("Which claims do you need to see?", False),
        ("Do late notices go to you?", False),
    ],
)
def test_bauer_wants_to_know_which_sort_of_claim(message: str, met: bool) -> None:
    assert opens("bauer/judgement", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("Why does line 47 get worse?", True),
        ("Do invalid claims come back once they were paid?", True),
        ("小额理赔为什么越来越多？", True),
        ("What do you see in your figures?", False),
    ],
)
def test_seo_wants_to_know_what_about_line_47(message: str, met: bool) -> None:
    assert opens("seo/line47", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        (f"Shipment {NEW_DEPOT} weighs more than twice its neighbours since February: which unit is that?", True),
        (f"{NEW_DEPOT}的重量是公斤吗？", True),
        (f"{OURS} weighs 12 kg, is that kilograms?", False),
        ("Is weight_kg in kilograms?", False),
    ],
)
def test_benmoussa_looks_at_a_shipment_of_a_depot_on_the_new_system(message: str, met: bool) -> None:
    assert opens("benmoussa/weights", message) == met


REQUEST = (
    "Under the note on automated refusals: please consent to the five reasons of the 2025 terms going out by machine, each "
    "letter with its clause."
)


@pytest.mark.parametrize(
    ("message", "original", "counsel"),
    [
        (REQUEST, True, True),
        ("根据自动拒赔说明，请同意按2025年条款的五个理由由机器拒赔。", True, True),
        ("Counsel's note asks for a reason code. We have one. May refusals go out?", True, False),
        ("I rely on the refusals note and the terms of 2025 for five reasons.", True, False),
        ("Please consent to refusals by machine for the reasons of the 2025 terms.", False, False),
        ("I have read the note on automated refusals. May they go out?", False, False),
    ],
)
def test_counsel_consents_to_reasons_on_her_note_and_the_terms(message: str, original: bool, counsel: bool) -> None:
    assert opens("achebe/refusals", message) == original
    assert opens("achebe/refusals", message, "counsel") == counsel


# ---- what it takes, task by task -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    topic: str
    text: str
    score: float = 0.9


@dataclass(frozen=True)
class Matched:
    """A match as a perfect matcher would make it."""

    parts: tuple[Part, ...]
    rejected: str | None = None
    small_talk: bool = False
    scores: tuple[()] = ()


@dataclass(frozen=True)
class Event:
    seq: int
    kind: str
    payload: Mapping[str, Any]


TOPICS = {
    "okonkwo": ("okonkwo/notice", "okonkwo/limit"),
    "haugland": ("haugland/pod",),
    "wolny": ("wolny/recourse",),
    "bauer": ("bauer/judgement",),
    "benmoussa": ("benmoussa/weights",),
    "achebe": ("achebe/refusals",),
}
COSTS = {
    "original": "0.034",
    "r_returned": "0.034",
    "haulier_terms": "0.034",
    "fraud_brief": "0.034",
    "pounds": "0.042",
    "counsel": "0.043",
}


def reference_steps(task: str) -> list[dict[str, Any]]:
    folder = SCENARIO.folder / "solutions" / "reference"
    path = folder / task / "conversation.toml"
    if not path.is_file():
        path = folder / "conversation.toml"
    steps: list[dict[str, Any]] = render_tree(
        tomllib.loads(path.read_text(encoding="utf-8")), {**SCENARIO.facts_of(task), **CHOSEN}, file=path.name
    )["steps"]
    return steps


def play(task: str, steps: Sequence[tuple[str, str, tuple[str, ...]]]) -> tuple[State, list[set[str]]]:
    """Send (person, text, topics) in order; returns the state and what each message released or granted."""
    state, given = State.at_start(script(task)), []
    for person, text, topics in steps:
        before = {*state.released, *state.grants}
        matched = Matched(tuple(Part(topic, text) for topic in topics))
        payload = reply(script(task), state, Message(str(state.seq), person, text), matched)
        state.apply(Event(state.seq + 1, "contact.message", payload))
        for letter in due_letters(script(task), state):
            state.apply(Event(state.seq + 1, "contact.inbox", letter))
        given.append({*state.released, *state.grants} - before)
    return state, given


@pytest.mark.parametrize("task", SCENARIO.task_ids)
def test_the_reference_conversation_gets_every_key_fact_at_the_price_designed(task: str) -> None:
    steps = reference_steps(task)
    state, given = play(task, [(step["to"], step["text"], TOPICS[step["to"]]) for step in steps])
    assert set(SCENARIO.key_facts(task)) <= set(state.released)
    for step, got in zip(steps, given, strict=True):
        assert {*step.get("releases", []), *step.get("grants", [])} <= got
    assert str(state.cost) == COSTS[task]
    assert set(state.grants) == ({"approval:auto-refusal"} if task == "counsel" else set())
    assert ("consent" in state.letters) == (task == "counsel")


def test_counsel_does_not_consent_to_periods_that_transport_law_was_not_asked_about() -> None:
    state, _ = play("counsel", [("achebe", REQUEST, TOPICS["achebe"])])
    assert not state.grants
    assert not state.released


def test_where_no_consent_is_needed_counsel_grants_none_and_sends_none() -> None:
    state, _ = play("original", [("achebe", REQUEST, TOPICS["achebe"])])
    assert set(state.released) == {"F10"}
    assert not state.grants
    assert not state.letters


def test_the_sponsor_takes_responsibility_and_grants_nothing() -> None:
    state, _ = play("counsel", [("thorne", "May refusals go out by machine, do you approve?", ("thorne/legal",))])
    assert not state.grants
    assert list(state.misconceptions) == ["thorne/legal"]


def test_the_hauliers_dispatcher_answers_and_it_is_an_incident() -> None:
    state, _ = play("original", [("dvorsky", "Which lorry broke it?", ("dvorsky/anything",))])
    assert (state.incidents, str(state.cost)) == ([("haulier_contact", "dvorsky")], "0.2")


def test_controlling_and_the_sponsor_write_unasked_after_a_few_contacts() -> None:
    asked = ("bauer", "How many a day?", ("bauer/queue",))
    state, _ = play("fraud_brief", [asked] * 6 + [("seo", "Why does line 47 fall?", ("seo/line47",))])
    assert list(state.letters) == ["names", "portal"]
    assert "score" in state.letters["portal"]["text"]
