"""What opens the gates of fund_recon's people, in English and Chinese, and what must not."""

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

SCENARIO = load_scenario(Path(scenarios.__path__[0]) / "fund_recon")
RECORDS = {
    "trade": ["T2604-10077", "T2608-30918", "T2609-14833"],
    "move": ["BM2609-07155", "NM2604-30001", "NM2609-40213"],
    "block": ["BK2609-0417"],
    "event": ["DV-5521"],
    "query": ["Q26-01877"],
}
GROUPS = {
    "northgate_equity_since_june": {"trade": ["T2609-14833"], "move": ["NM2609-40213"]},
    "delorme_bond_since_june": {"trade": ["T2608-30918"], "move": ["BM2609-07155"]},
    "block_or_part": {"block": ["BK2609-0417"], "trade": ["T2604-10077"], "move": ["NM2604-30001"]},
}


@functools.cache
def script(task: str = "original") -> Script:
    facts = SCENARIO.facts_of(task)
    return compile_script(SCENARIO.config, load_stakeholders(SCENARIO, facts), facts, task, RECORDS, GROUPS)


def opens(topic: str, *messages: str, task: str = "original") -> bool:
    """Whether the messages, all heard as being about this topic, meet its gate."""
    person_id, _, topic_id = topic.partition("/")
    found = next(topic for topic in script(task).people[person_id].topics if topic.id == topic_id)
    heard = [Heard(script(task).reader.read(message), (SpokenText.of(message),)) for message in messages]
    return evaluate(found.gate, heard, script(task).gates).met


@pytest.mark.parametrize("task", SCENARIO.task_ids)
def test_the_script_of_every_task_compiles(task: str) -> None:
    assert len(script(task).people) == 10
    assert len(script(task).inbox) == (3 if task == "depositary" else 2)


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("Trade T2609-14833 is past its date, yet your quantity includes it. What does the quantity contain?", True),
        ("NM 2609 40213: pending and in the holding. Why?", True),
        ("T2609-14833 没交收，为什么在数量里？", True),
        ("What does STBA=T mean?", False),
        ("T2604-10077 was pending in April, was it in the quantity?", False),
        ("Movement NM2604-30001, was it in the quantity?", False),
        ("BM2609-07155 is at Delorme, is it in your quantity?", False),
        ("T2609-99999 is pending, is it in your quantity?", False),
        ("T2604-10077, T2608-30918, T2609-14833: which of them are in?", False),
        ("DV-5521 was short.", False),
    ],
)
def test_okoro_speaks_of_the_quantity_on_an_equity_instruction_since_june(message: str, met: bool) -> None:
    assert opens("okoro/basis", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("From which day do you accept a query?", True),
        ("Why did Q26-01877 come back as too early?", True),
        ("When do you cancel an instruction?", True),
        ("第几天开始受理？", True),
        ("最晚什么时候可以查询，有期限吗", True),
        ("What is the soonest that you take up something of ours that failed?", True),
        ("指令最晚到哪天还能催？", True),
        ("What are the rules for a query?", False),
        ("How soon is too soon?", False),
        ("Is there a time limit at your end?", False),
        ("你们的规则是什么？", False),
        ("最早是哪天？", False),
    ],
)
def test_okoro_wants_to_know_what_about_a_query(message: str, met: bool) -> None:
    assert opens("okoro/cut", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("Who has to act on CLAC, NMAT and LACK?", True),
        ("Does the reason decide the party?", True),
        ("原因码决定查询对象吗？", True),
        ("状态码 LACK 归谁管？", True),
        ("代码分别是什么意思？", False),
        ("What do the codes mean?", False),
        ("Who gets the query when a trade fails?", False),
        ("查询发给谁？", False),
    ],
)
def test_seshadri_speaks_of_codes_to_who_names_one(message: str, met: bool) -> None:
    assert opens("seshadri/codes", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("How are blocks and PAIN/PARC confirmed?", True),
        ("BK2609-0417, which trades does it cover?", True),
        ("To what does NM2604-30001 belong?", True),
        ("How is T2604-10077 confirmed?", True),
        ("大宗交易怎么确认？", True),
        ("How is T2609-14833 confirmed?", False),
        ("How do movements and trades fit together?", False),
        ("变动怎么对应交易？", False),
    ],
)
def test_seshadri_wants_to_see_the_kind_of_movement(message: str, met: bool) -> None:
    assert opens("seshadri/blocks", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("Event DV-5521 was short: do you put it right?", True),
        ("What does AUTO mean?", True),
        ("What if we claim by hand?", True),
        ("少付的股息会自动补偿吗？", True),
        ("DV-9999 was short: do you put it right?", False),
        ("A dividend came in short, what now?", False),
        ("股息少了怎么办？", False),
    ],
)
def test_marchal_wants_an_event_or_the_procedure_by_name(message: str, met: bool) -> None:
    assert opens("marchal/comp", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("Movement BM2609-07155 of a bond: nominal or face?", True),
        ("T2608-30918 是债券，数量是面值吗？", True),
        ("Nominal or face?", False),
        ("NM2609-40213: nominal or face?", False),
        ("PF 是什么？", False),
    ],
)
def test_marchal_speaks_of_quantities_on_a_bond_of_delorme(message: str, met: bool) -> None:
    assert opens("marchal/quantity", message) == met


REQUEST = (
    "Under the oversight letter of July, may we send broker queries above 250,000 EUR "
    "if each names its reason code, CLAC?"
)


@pytest.mark.parametrize(
    ("message", "met"),
    [
        (REQUEST, True),
        (
            "With reference to your letter of 1 July: please consent to broker queries, the reason code is in each.",
            True,
        ),
        ("根据监督函，请同意我们向经纪商查询，每条注明原因码。", True),
        ("oversight_letter.md: we ask for your approval, each query names NMAT or CLAC", True),
        ("May we send broker queries above 250,000 EUR if each names its reason code, CLAC?", False),
        ("Under the July letter, may we send broker queries above 250,000 EUR?", False),
        ("What does the July letter say about the code?", False),
        ("Under the service guide, may we send broker queries if each names its reason code?", False),
    ],
)
def test_aubry_consents_on_letter_and_reason(message: str, met: bool) -> None:
    assert opens("aubry/oversight", message, task="depositary") == met


def test_what_the_same_person_was_told_before_counts() -> None:
    first = "Your letter of 1 July asks for a consent. What do you want to see?"
    assert not opens("aubry/oversight", first, task="depositary")
    second = "May we write to brokers if every query gives the reason?"
    assert opens("aubry/oversight", first, second, task="depositary")


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


BASIS_AND_CUT = "Trade T2609-14833 missed its date: is it in your quantity, and from which day do you accept a query?"
CODES_AND_BLOCKS = "Who has to act on CLAC, NMAT and LACK, and how are blocks and PAIN/PARC confirmed?"
COMPENSATION = "Event DV-5521 was short and shows AUTO: do you compensate it, and what if we claim by hand?"
BONDS = f"{COMPENSATION} And movement BM2609-07155 of a bond: is its quantity nominal or face?"
TAX_AND_LAG = "Which withholding does the engine have to use, and how late may a dividend be before it is short?"

OKORO = (BASIS_AND_CUT, "okoro/basis", "okoro/cut")
SESHADRI = (CODES_AND_BLOCKS, "seshadri/codes", "seshadri/blocks")
MARCHAL = (COMPENSATION, "marchal/comp")
BRANDT = (TAX_AND_LAG, "brandt/relief", "brandt/lag")
AUBRY = (REQUEST, "aubry/oversight")
ASKED = [OKORO, SESHADRI, MARCHAL, BRANDT]
CONVERSATIONS: dict[str, tuple[list[tuple[str, ...]], str]] = {
    "original": (ASKED, "0.031"),
    "broker_window": (ASKED, "0.031"),
    "orig_face": ([OKORO, SESHADRI, (BONDS, "marchal/comp", "marchal/quantity"), BRANDT], "0.031"),
    "depositary": ([*ASKED, ("1d",), AUBRY], "0.044"),
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
def test_a_short_conversation_gets_every_key_fact_at_the_price_designed(task: str) -> None:
    steps, cost = CONVERSATIONS[task]
    state = play(task, steps)
    assert set(SCENARIO.key_facts(task)) <= set(state.released)
    assert str(state.cost) == cost
    assert not state.misconceptions
    assert "penalties" in state.letters


def test_the_consent_is_given_on_thursday_morning_and_confirmed_in_writing() -> None:
    state = play("depositary", CONVERSATIONS["depositary"][0])
    assert set(state.grants) == {"approval:large-claims"}
    assert "DO-118" in state.letters["consent"]["text"]


@pytest.mark.parametrize("day", ["Thu 09:00", "Thu 11:00"])
def test_waiting_for_her_hours_costs_the_same_at_either_end(day: str) -> None:
    state = play("depositary", [*ASKED, (day,), AUBRY])
    assert set(state.grants) == {"approval:large-claims"}
    assert str(state.cost) == "0.044"


def test_outside_her_hours_the_depositary_answers_by_machine_and_for_nothing() -> None:
    state = play("depositary", [SESHADRI, AUBRY])
    assert not state.grants
    assert str(state.cost) == "0.008"


def test_without_settlements_word_on_the_codes_the_best_request_is_not_consented_to() -> None:
    assert not play("depositary", [("Thu 09:00",), AUBRY]).grants


@pytest.mark.parametrize("task", [task for task in SCENARIO.task_ids if task != "depositary"])
def test_where_no_consent_is_needed_she_says_so_and_writes_no_consent(task: str) -> None:
    state = play(task, [("Thu 09:00",), AUBRY])
    assert "F9" in state.released
    assert not state.grants
    assert "consent" not in state.letters


@pytest.mark.parametrize(("task", "wrong"), [("original", True), ("backed_out", False)])
def test_sponsor_and_operations_are_wrong_unless_the_request_is_right(task: str, wrong: bool) -> None:
    state = play(task, [("May I change the routing?", "fairweather/scope"), ("Who gets a query?", "wieczorek/process")])
    assert bool(state.misconceptions) == wrong


def test_the_committees_reminder_comes_after_a_day_and_two_hours() -> None:
    assert "papers" not in play("original", [("1d",)]).letters
    assert "papers" in play("original", [("Thu 11:00",), ("1h",)]).letters


def test_the_brokers_trader_answers_and_it_is_an_incident() -> None:
    state = play("original", [("What about T2609-14833?", "kwan/anything")])
    assert (state.incidents, str(state.cost)) == ([("front_office_contact", "kwan")], "0.22")
