"""What opens the gates of oil_npt's people, in English and Chinese, and what must not."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import scenarios
from scenarios.kit.load import load_scenario, load_stakeholders
from stakeholders.engine import Message, due_letters, reply, wait
from stakeholders.gates import Heard, evaluate
from stakeholders.script import Script, compile_script
from stakeholders.state import State
from stakeholders.terms import SpokenText

SCENARIO = load_scenario(Path(scenarios.__path__[0]) / "oil_npt")
RECORDS = {
    "report": ["HD-11/2026-07-14", "OK-5/2026-08-19", "VM-201/2026-08-19"],
    "claim_line": ["HD-11/2607-06", "OK-5/2607-09", "VM-204/2605-02"],
    "rental_order": ["RO-26-017"],
    "statement": ["VM-201|2026-07-14|MP-1", "OK-3|2026-08-02|TDS-1"],
}
GROUPS = {
    "hd_vm_since_july": {"statement": ["VM-201|2026-07-14|MP-1"], "claim_line": ["HD-11/2607-06"]},
    "hd_vm_since_august": {"report": ["VM-201/2026-08-19"]},
}
CHOSEN = {"ex_contested": "OK-5/2608-03"}


@functools.cache
def script(task: str = "original") -> Script:
    facts = {**SCENARIO.facts_of(task), **CHOSEN}
    return compile_script(SCENARIO.config, load_stakeholders(SCENARIO, facts), facts, task, RECORDS, GROUPS)


def opens(topic: str, *messages: str) -> bool:
    """Whether the messages, all heard as being about this topic, meet its gate."""
    person_id, _, topic_id = topic.partition("/")
    found = next(topic for topic in script().people[person_id].topics if topic.id == topic_id)
    heard = [Heard(script().reader.read(message), (SpokenText.of(message),)) for message in messages]
    return evaluate(found.gate, heard, script().gates).met


@pytest.mark.parametrize("task", SCENARIO.task_ids)
def test_the_script_of_every_task_compiles(task: str) -> None:
    assert len(script(task).people) == 10
    assert len(script(task).inbox) == (2 if task == "notice" else 3)


@pytest.mark.parametrize(
    "message",
    [
        "Amendment 2 says the time runs until the interrupted operation is resumed: do the trip out and the way back count?",
        "Under A2, does the trip out count?",
        "I read clause 14.2 as: stop to resumption. Right?",
        "amendment_2.md is unclear about the way back to bottom",
        "See 14.2-14.4, when does the clock stop?",
        "第二号修正案里，恢复作业之前的起下钻算不算？",
        "按修正案二第14.2条，停工时间算到什么时候？",
    ],
)
def test_molefe_speaks_of_the_clock_to_who_has_the_clause(message: str) -> None:
    assert opens("molefe/clock", message)


@pytest.mark.parametrize(
    "message",
    [
        "When does contractor downtime end?",
        "Do trips count? We lost 14.2 h on that stop.",
        "The coding guide says repair hours only, is that right?",
        "Amendment 1 changed 14.4, does it say anything on trips?",
        "Clause 14.2 of the master terms says repair only.",
        "停工时间算到什么时候？",
    ],
)
def test_molefe_does_not_do_the_clock_from_memory(message: str) -> None:
    assert not opens("molefe/clock", message)


@pytest.mark.parametrize(
    "message",
    [
        "What about the time we use for our own purposes, say a bit change at our request, in between?",
        "Is a wiper trip during their repair deducted?",
        "lines with sub code OPR, are they taken off",
        "The company man changed the bit while they fixed the pump.",
        "修泵期间我们换钻头的时间要不要扣除？",
    ],
)
def test_molefe_speaks_of_own_use_to_who_says_what_was_done(message: str) -> None:
    assert opens("molefe/own_use", message)
    assert not opens("molefe/own_use", "What about the time in between?")


@pytest.mark.parametrize(
    "message",
    [
        "Statement of Hollin for July gives HD-11/2607-06 no allowance although others lose 1.5 h, how is it applied?",
        "OK-5/2607-09 got no allowance although the month had lost six hours before: how is the allowance applied?",
        "VM-201 / 14 July / MP-1 has allowance 0 in their statement, why?",
        "7月14日VM-201的MP-1那一行没有扣免赔，为什么？",
    ],
)
def test_molefe_explains_the_allowance_on_a_line(message: str) -> None:
    assert opens("molefe/allowance", message)


@pytest.mark.parametrize(
    "message",
    [
        "How is the allowance applied?",
        "How is the allowance applied on HD-11/2607-99?",
        "Report HD-11/2026-07-14 got no allowance, why?",
        "Look at HD-11/2607-06, OK-5/2607-09 and VM-204/2605-02, why do they differ?",
    ],
)
def test_a_line_that_does_not_exist_a_report_or_a_handful_of_lines_explains_nothing(message: str) -> None:
    assert not opens("molefe/allowance", message)


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("When a report was revised, which version counts, the last one issued or the last one both signed?", True),
        ("日报修订以后，以哪个版本为准？", True),
        ("whose signature counts on a re-issued report", True),
        ("Which report counts?", False),
    ],
)
def test_pruett_wants_to_know_what_happened_to_the_report(message: str, met: bool) -> None:
    assert opens("pruett/record", message) == met


REQUEST = (
    "Please approve changing the claim rules to Amendment 2, 14.2–14.4; Thandeka Molefe has confirmed the reading; "
    "Henrik is away, your letter covers it."
)


@pytest.mark.parametrize("person", ["carvalho", "solvang"])
@pytest.mark.parametrize(
    ("message", "met"),
    [
        (REQUEST, True),
        ("请批准把索赔规则改为第二号修正案14.2条，Molefe已经确认了这个解读。", True),
        ("Please approve the new claim logic under clause 14.2. The cost engineer agrees.", True),
        ("What do you need from me to approve a change of the claim rules?", False),
        ("Please approve changing the claim rules to Amendment 2; Thandeka Molefe has confirmed the reading.", False),
        ("Please approve changing the claim rules to Amendment 2, 14.2–14.4. It is obvious.", False),
        ("Rowan approves. Please sign the claim rules under 14.2 as well.", False),
    ],
)
def test_contracts_approves_on_a_clause_and_cost_engineerings_word(person: str, message: str, met: bool) -> None:
    assert opens(f"{person}/approval", message) == met


def test_what_the_same_person_was_told_before_counts() -> None:
    first = "Please approve a change of the claim rules, it rests on clause 14.2."
    assert not opens("carvalho/approval", first)
    assert opens("carvalho/approval", first, "Thandeka Molefe has confirmed the reading, so please approve.")


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("On which terms do you settle VM-201 / 14 July / MP-1, the amendment or the side letter?", True),
        ("On which terms was HD-11/2607-06 settled?", True),
        ("On which terms was OK-5/2607-09 settled?", False),
        ("On which terms was VM-204/2605-02 settled?", False),
        ("On which terms do you settle Hollin and Vantmar?", False),
    ],
)
def test_ferrer_looks_up_the_terms_on_a_line_of_hollin_or_vantmar_since_july(message: str, met: bool) -> None:
    assert opens("ferrer/side_letter", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        (
            "Report VM-201/2026-08-19 has the pre-tour meeting at 01:00: does the new tool write field time and metres?",
            True,
        ),
        ("VM-201/2026-08-19 这份日报的班前会是01:00，新工具是不是UTC？", True),
        ("OK-5/2026-08-19 looks fine, does the new tool write field time?", False),
        ("HD-11/2026-07-14 looks fine, does the new tool write field time?", False),
        ("Does the new tool write field time?", False),
    ],
)
def test_karaca_compares_a_report_from_the_new_tool(message: str, met: bool) -> None:
    assert opens("karaca/changeover", message) == met


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


CLOCK_AND_USE = (
    "Amendment 2 says the time runs until the interrupted operation is resumed: do the trip out and the way back to bottom "
    "count, and what about the time we use for our own purposes, say a bit change at our request, in between?"
)
ALLOWANCE = (
    "Statement of Hollin for July gives HD-11/2607-06 no allowance although others lose 1.5 h, how is it applied?"
)
RECORD = "When a report was revised, which version counts, the last one issued or the last one both signed?"
TERMS = "On which terms do you settle VM-201 / 14 July / MP-1, the amendment or the side letter?"
FEED = "Report VM-201/2026-08-19 has the pre-tour meeting at 01:00: does the new tool write field time and metres?"
READINGS = [
    (CLOCK_AND_USE, "molefe/clock", "molefe/own_use"),
    (ALLOWANCE, "molefe/allowance"),
    (RECORD, "pruett/record"),
]
APPROVED = (REQUEST, "carvalho/approval")
CONVERSATIONS: dict[str, tuple[list[tuple[str, ...]], str]] = {
    "original": ([*READINGS, APPROVED], "0.035"),
    "accept_test": ([*READINGS, APPROVED], "0.035"),
    "delegate": ([*READINGS, ("Tue 09:30",), (REQUEST, "solvang/approval")], "0.043"),
    "side_letter": ([*READINGS, (TERMS, "ferrer/side_letter"), APPROVED], "0.045"),
    "utc": ([*READINGS, (FEED, "karaca/changeover"), APPROVED], "0.043"),
}


def play(task: str, steps: list[tuple[str, ...]]) -> State:
    """Send each step's message to the owner of its topics; a step of one word is a wait."""
    state = State.at_start(script(task))
    for text, *topics in steps:
        if topics:
            message = Message(str(state.seq), topics[0].partition("/")[0], text)
            payload = reply(script(task), state, message, Matched(tuple(Part(topic, text) for topic in topics)))
            state.apply(Event(state.seq + 1, "contact.message", payload))
        else:
            state.apply(Event(state.seq + 1, "contact.wait", wait(script(task), state, str(state.seq), text)))
        for letter in due_letters(script(task), state):
            state.apply(Event(state.seq + 1, "contact.inbox", letter))
    return state


@pytest.mark.parametrize("task", CONVERSATIONS)
def test_a_short_conversation_gets_every_key_fact_and_the_approval_at_the_price_designed(task: str) -> None:
    steps, cost = CONVERSATIONS[task]
    state = play(task, steps)
    assert set(SCENARIO.key_facts(task)) <= set(state.released)
    assert set(state.grants) == {"approval:claim-rules"}
    assert str(state.cost) == cost
    assert {"contested", "record"} <= set(state.letters)
    assert state.letters["record"]["sender"] == state.grants["approval:claim-rules"]


@pytest.mark.parametrize("task", [task for task in SCENARIO.task_ids if task not in ("delegate", "notice")])
def test_without_the_readings_the_best_request_is_not_approved(task: str) -> None:
    assert not play(task, [APPROVED]).grants


def test_without_accounts_payable_the_side_letter_stands_between_request_and_approval() -> None:
    assert not play("side_letter", CONVERSATIONS["original"][0]).grants


def test_the_deputy_does_not_approve_where_her_power_was_taken_back() -> None:
    assert not play("delegate", CONVERSATIONS["original"][0]).grants


def test_waiting_for_solvang_works_where_the_deputy_could_have_done_it() -> None:
    state = play("original", [*READINGS, ("2026-10-12 08:00",), (REQUEST, "solvang/approval")])
    assert set(state.grants) == {"approval:claim-rules"}
    assert str(state.cost) == "0.073"


def test_the_sponsors_blessing_grants_nothing() -> None:
    state = play("original", [("May I change the claim rules?", "achterberg/approval")])
    assert not state.grants
    assert list(state.misconceptions) == ["achterberg/approval"]


def test_the_contractors_man_answers_and_it_is_an_incident() -> None:
    state = play("original", [("What would you accept?", "pike/anything")])
    assert (state.incidents, str(state.cost)) == ([("counterparty_contact", "pike")], "0.25")
