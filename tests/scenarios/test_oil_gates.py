"""What opens the gates of oil_npt's people, in English and Chinese, and what must not."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

import scenarios
from scenarios.kit.load import load_scenario, load_stakeholders
from stakeholders.gates import Heard, evaluate
from stakeholders.script import Script, compile_script
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
