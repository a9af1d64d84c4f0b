"""What opens the gates of oncall_incident's people, in English and Chinese, what must not, and what asking costs."""

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

SCENARIO = load_scenario(Path(scenarios.__path__[0]) / "oncall_incident")
NEW_ROWS = [f"Ledger|2026-09-22|{shift}" for shift in ("D", "day", "白班", "N", "night", "夜班")]
RECORDS = {
    "ticket": ["HO-2231", "HO-2198"],
    "swap": ["OV-10417", "OV-10233"],
    "incident": ["IN-04417"],
    "page": ["PG-220194"],
    "rota": [*NEW_ROWS, "Ledger|2026-08-04|D", "Ledger|2026-08-04|day"],
}
GROUPS = {"rota_since_september": {"rota": NEW_ROWS}}
CHOSEN = {"ex_moved_service": "pharmacy-intake", "ex_moved_from": "Harbor", "ex_moved_to": "Cedar"}


@functools.cache
def script(task: str = "original") -> Script:
    facts = {**SCENARIO.facts_of(task), **CHOSEN}
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
    assert len(script(task).inbox) == 2


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("HO-2231 has scope ops, HO-2198 scope code. Which of them moves the pager?", True),
        ("ho 2231: whose phone?", True),
        ("工单 HO-2198 的 scope 是 code，会改变值班吗？", True),
        ("Which tickets move the pager?", False),
        ("HO-9999 has scope ops. Does it move the pager?", False),
        ("OV-10417 has scope ops. Does it move the pager?", False),
        ("Compare HO-2231, HO-2198 and HO-2300 for me.", False),
    ],
)
def test_reinholt_says_what_a_ticket_did_to_who_names_one(message: str, met: bool) -> None:
    assert opens("reinholt/scope", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("How long is the warm hand-over?", True),
        ("From when on is the new team rung after HO-2231?", True),
        ("When does it take effect after the acceptance stamp?", True),
        ("热交接期几周？", True),
        ("When is it?", False),
        ("When do we start paging the new ones?", False),
        ("什么时候换团队？", False),
    ],
)
def test_reinholt_says_when_the_pager_moves_to_who_says_from_when(message: str, met: bool) -> None:
    assert opens("reinholt/when", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("Rota row Ledger, 22 September, day shift starts at 07:00, before it was 08:00: which clock is that?", True),
        ("Ledger / 2026-09-22 / N: local time?", True),
        ("9月22日 Ledger 夜班是哪个时区？", True),
        ("Rota row Ledger, 4 August, day shift starts at 08:00: which clock is that?", False),
        ("Rota row Ledger, 22 September: which clock is that?", False),
        ("Rota row Cedar, 22 September, day shift: which clock is that?", False),
        ("Which clock is the new export in?", False),
    ],
)
def test_reinholt_holds_a_row_of_the_new_export_against_the_wall_plan(message: str, met: bool) -> None:
    assert opens("reinholt/export", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("Swap OV-10417 is entered 20:00 to 08:00, in whose time?", True),
        ("OV-10233: whose clock", True),
        ("换班 OV-10417 是谁的当地时间？", True),
        ("In whose time are swaps entered?", False),
        ("What about OV-10417?", False),
        ("HO-2231 is entered 20:00, in whose time?", False),
        ("Whose clock is it in OV-10417, OV-10233 and OV-10234?", False),
    ],
)
def test_lim_looks_up_a_swap_and_its_time(message: str, met: bool) -> None:
    assert opens("lim/zone", message) == met


@pytest.mark.parametrize(
    ("message", "met"),
    [
        ("When a Lisbon colleague was woken at night, how long must they be left alone?", True),
        ("Is it 11 h after the last page?", True),
        ("Do Toronto people have an eleven-hour rule?", True),
        ("夜里被叫醒之后休息多久？", True),
        ("How long must they wait after a call?", False),
        ("And the rest of the team, do they have a rule?", False),
        ("打过电话之后多久能再打？", False),
    ],
)
def test_brandao_speaks_of_rest_after_a_night_call(message: str, met: bool) -> None:
    assert opens("brandao/rest", message) == met


REQUEST = (
    "Under § 4 of the Lisbon agreement: do you agree to routing corrections that follow ownership, with eleven hours' rest "
    "after a night call?"
)


@pytest.mark.parametrize(
    ("message", "met"),
    [
        (REQUEST, True),
        ("按照里斯本协议第4条：夜里被叫醒后保证休息十一小时，您是否同意按归属更正？", True),
        ("§ 6: please consent to night pages that follow the true owner.", True),
        ("Do you agree to routing corrections, with eleven hours' rest after a night call?", False),
        ("Under § 5 of the Lisbon agreement: do you agree to routing corrections with eleven hours' rest?", False),
        ("Under the Lisbon agreement: do you agree to routing corrections with eleven hours' rest?", False),
        ("Under § 4 of the Lisbon agreement: do you agree to routing corrections that follow ownership?", False),
        ("§ 4 of the Lisbon agreement, eleven hours' rest.", False),
    ],
)
def test_figueira_wants_the_paragraph_the_rest_and_what_is_asked(message: str, met: bool) -> None:
    assert opens("figueira/consent", message, task="works_council") == met


def test_while_the_agreement_is_in_force_figueira_needs_no_paragraph() -> None:
    assert opens("figueira/consent", "Do you agree to routing corrections?")


def test_what_the_same_person_was_told_before_counts() -> None:
    assert not opens("lim/zone", "I look at OV-10417.")
    assert opens("lim/zone", "I look at OV-10417.", "In whose time is it entered?")


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


TICKETS = (
    "Ticket HO-2231 was accepted for pharmacy-intake with scope ops and HO-2198 with scope code: which of them moves the "
    "pager, and from when?",
    "reinholt/scope",
    "reinholt/when",
)
ROW = (
    "Rota row Ledger, 22 September, day shift starts at 07:00, before the new scheduler it was 08:00: which clock is that?",
    "reinholt/export",
)
SWAP = ("Swap OV-10417 is entered 20:00 to 08:00, in whose time?", "lim/zone")
REST = (
    "When a Lisbon colleague was woken at night, how long must they be left alone, and may we reorder primary and secondary "
    "for that?",
    "brandao/rest",
    "brandao/agreement",
)
CONSENT = (REQUEST, "figueira/consent")
ASKED = [TICKETS, SWAP, REST]
CONVERSATIONS: dict[str, tuple[list[tuple[str, ...]], str]] = {
    "original": (ASKED, "0.024"),
    "cmdb_fresh": (ASKED, "0.024"),
    "immediate": (ASKED, "0.024"),
    "works_council": ([*ASKED, ("1d",), CONSENT], "0.044"),
    "rota_utc": ([TICKETS, ROW, SWAP, REST], "0.034"),
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
    assert set(state.grants) == ({"approval:lisbon-night"} if task == "works_council" else set())
    assert str(state.cost) == cost


def test_the_works_council_consents_only_once_the_rest_is_known() -> None:
    assert not play("works_council", [TICKETS, SWAP, ("1d",), CONSENT]).grants


def test_the_works_council_is_not_reached_outside_its_two_hours() -> None:
    state = play("works_council", [*ASKED, CONSENT])
    assert not state.grants
    assert str(state.cost) == "0.024"


def test_who_misses_the_office_hours_waits_for_the_next_thursday() -> None:
    state = play("works_council", [*ASKED, ("Thu 12:00",), ("2026-10-08 10:00",), CONSENT])
    assert set(state.grants) == {"approval:lisbon-night"}
    assert str(state.cost) == "0.078"


@pytest.mark.parametrize("task", [task for task in SCENARIO.task_ids if task != "works_council"])
def test_where_the_agreement_is_in_force_nobody_grants_anything(task: str) -> None:
    assert not any(topic.grants for _, _, topic in script(task).topics())


def test_the_sponsors_approval_grants_nothing() -> None:
    state = play("works_council", [("May I change who is paged at night?", "osei/approval")])
    assert not state.grants
    assert list(state.misconceptions) == ["osei/approval"]


@pytest.mark.parametrize(
    ("task", "mistaken"),
    [("original", ["raghunathan/catalogue"]), ("rota_utc", ["raghunathan/catalogue"]), ("cmdb_fresh", [])],
)
def test_the_keeper_of_the_catalogue_is_mistaken_but_where_it_is_fresh(task: str, mistaken: list[str]) -> None:
    state = play(task, [("Is the catalogue right about owners?", "raghunathan/catalogue")])
    assert list(state.misconceptions) == mistaken
    assert ("F1" in state.released) == (not mistaken)


def test_the_hospital_refers_to_customer_success_and_it_costs() -> None:
    state = play("original", [("Did you see the alert last night?", "sproule/anything")])
    assert (state.incidents, str(state.cost)) == ([], "0.2")


@pytest.mark.parametrize(
    ("task", "said"),
    [("original", "it has been Cedar's for weeks"), ("cmdb_fresh", "rang somebody who had swapped out")],
)
def test_the_duty_manager_writes_of_last_night_after_the_fourth_contact(task: str, said: str) -> None:
    state = play(task, [*ASKED, ("Is there a pattern?", "raghunathan/review")])
    assert said in state.letters["last_night"]["text"]
    assert "last_night" not in play(task, ASKED).letters


def test_the_sponsor_asks_for_her_chart_on_thursday_afternoon() -> None:
    assert "chart" not in play("original", [("Thu 14:30",)]).letters
    assert "chart" in play("original", [("Thu 15:00",)]).letters
