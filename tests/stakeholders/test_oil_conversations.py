"""Conversations at Tessaly Basin Energy: what the reference and a careful player ask, what it releases, what it costs.

The matcher's part is given by hand here (which topic each part of a message is about): these are tests of the engine on
the scenario's own people, calendar and documents.
"""

from __future__ import annotations

import functools
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from small_customer import Matched, Part, Rehearsal, matched

import scenarios
from scenarios.kit.load import load_scenario, load_stakeholders
from scenarios.kit.render import render_tree
from stakeholders.script import Script, compile_script

FOLDER = Path(scenarios.__path__[0]) / "oil_npt"
SCENARIO = load_scenario(FOLDER)
CHOSEN = {
    "ex_recur": "HD-11/2607-06",
    "ex_contested": "OK-5/2608-03",
    "ex_statement_rig": "VM-201",
    "ex_statement_date": "2026-07-14",
    "ex_statement_tag": "MP-1",
    "ex_month_used": "OK-5/2607-09",
    "ex_feed_report": "VM-201/2026-08-19",
}
RECORDS = {
    "report": ["HD-11/2026-07-14", "VM-201/2026-08-19"],
    "claim_line": ["HD-11/2607-06", "OK-5/2607-09"],
    "rental_order": ["RO-26-017"],
    "statement": ["VM-201|2026-07-14|MP-1", "HD-11|2026-06-02|TDS-1"],
}
GROUPS = {
    "hd_vm_since_july": {"statement": ["VM-201|2026-07-14|MP-1"], "claim_line": ["HD-11/2607-06"]},
    "hd_vm_since_august": {"report": ["VM-201/2026-08-19"]},
}


def facts_of(task_id: str) -> dict[str, Any]:
    return {**SCENARIO.facts_of(task_id), **CHOSEN}


@functools.cache
def script_of(task_id: str) -> Script:
    facts = facts_of(task_id)
    return compile_script(SCENARIO.config, load_stakeholders(SCENARIO, facts), facts, task_id, RECORDS, GROUPS)


def reference_steps(task_id: str) -> list[dict[str, Any]]:
    own = FOLDER / "solutions" / "reference" / task_id / "conversation.toml"
    path = own if own.is_file() else FOLDER / "solutions" / "reference" / "conversation.toml"
    rendered = render_tree(tomllib.loads(path.read_text()), facts_of(task_id), file=path.name)
    steps: list[dict[str, Any]] = rendered.get("steps", [])
    return steps


def about(person: str, text: str) -> Matched:
    """What a reader would say a message of the reference conversation is about."""
    if person == "molefe" and "own" in text:
        head, _, tail = text.partition("and what about") if "and what about" in text else text.partition(":")
        return Matched((Part("molefe/clock", head), Part("molefe/own_use", tail)))
    topic = {
        "molefe": "molefe/allowance",
        "pruett": "pruett/record",
        "carvalho": "carvalho/approval",
        "solvang": "solvang/approval",
        "ferrer": "ferrer/side_letter",
        "karaca": "karaca/changeover",
    }[person]
    return matched(text, topic)


@pytest.mark.parametrize(
    ("task_id", "cost"),
    [
        ("original", "0.035"),
        ("delegate", "0.043"),
        ("side_letter", "0.045"),
        ("utc", "0.043"),
        ("accept_test", "0.035"),
        ("notice", "0"),
    ],
)
def test_the_reference_conversation_releases_what_it_must_and_costs_what_the_design_says(
    task_id: str, cost: str
) -> None:
    run = Rehearsal(script_of(task_id))
    for step in reference_steps(task_id):
        if "wait" in step:
            run.wait(step["wait"])
            continue
        answer = run.say(step["to"], step["text"], match=about(step["to"], step["text"]))
        assert set(step.get("releases", [])) <= set(answer["facts"]), (step["text"], answer)
        assert set(step.get("grants", [])) <= set(answer["grants"]), (step["text"], answer)
    assert run.state.cost == Decimal(cost)
    assert run.state.incidents == []
    assert ("approval:claim-rules" in run.state.grants) == (task_id != "notice")


def test_the_reference_conversation_ends_at_eleven_on_monday_and_the_record_follows() -> None:
    run = Rehearsal(script_of("original"))
    letters = [run.say(step["to"], step["text"], match=about(step["to"], step["text"]))["letters"] for step in
               reference_steps("original")]  # fmt: skip
    assert run.state.now is not None
    assert run.state.now.isoformat(timespec="minutes") == "2026-10-05T11:00"
    assert letters == [[], [], ["contested"], ["record"]]
    assert run.state.letters["record"]["sender"] == "carvalho"
    assert "OK-5/2608-03" in run.state.letters["contested"]["text"]
    assert run.wait("Tue 08:00")["letters"] == ["reminder"]


def test_a_careful_player_with_eleven_questions_pays_0_120() -> None:
    run = Rehearsal(script_of("original"))
    questions = [
        ("achterberg", "What is in scope?", "achterberg/scope"),
        ("ferrer", "Why is the credit on hold?", "ferrer/hold"),
        ("karaca", "How are revisions loaded?", "karaca/ingest"),
        ("karaca", "What needs a change record?", "karaca/change"),
        ("molefe", "Amendment 2: from when until when does the clock run?", "molefe/clock"),
        ("molefe", "What about a bit change for ourselves?", "molefe/own_use"),
        ("molefe", "HD-11/2607-06 got no allowance, why?", "molefe/allowance"),
        ("pruett", "Which revision counts, the one both signed?", "pruett/record"),
        ("vandeputte", "What does your guide say?", "vandeputte/rules"),
        ("carvalho", "What do you need from me?", "carvalho/approval"),
        ("carvalho", "Please approve the claim rules by 14.3, Molefe confirms the reading", "carvalho/approval"),
    ]
    answers = [run.say(person, text, topic) for person, text, topic in questions]
    assert [answer["kind"] for answer in answers] == [*["answered"] * 9, "gate_miss", "answered"]
    assert run.state.cost == Decimal("0.120")


def test_a_second_word_with_the_sponsor_and_a_fourth_to_molefe_cost_more() -> None:
    run = Rehearsal(script_of("original"))
    charges = [run.say("achterberg", "And the slide?", "achterberg/board")["charge"] for _ in range(2)]
    charges += [run.say("molefe", "How many can you review?", "molefe/review")["charge"] for _ in range(4)]
    assert charges == ["0.025", "0.05", "0.008", "0.008", "0.008", "0.02"]


def test_the_rig_manager_answers_and_it_is_an_incident() -> None:
    run = Rehearsal(script_of("original"))
    answer = run.say("pike", "What would you accept?")
    assert (answer["charge"], answer["incident"]) == ("0.25", "counterparty_contact")
    assert answer["answer"] == "Send me what you have, I'll tell you what we'd accept."


def test_pruett_is_on_site_calls_until_nine() -> None:
    assert (
        Rehearsal(script_of("original")).say("pruett", "Which rev counts?")["answer"] == "Back Monday 5 October, 09:00."
    )


def test_solvang_is_in_a_hearing_and_waiting_for_him_costs_nineteen_quarters() -> None:
    run = Rehearsal(script_of("original"))
    assert run.say("solvang", "Please approve.")["answer"].startswith("In hearing, no phone, back Monday 12 October.")
    run.wait("Mon 10:15")
    assert run.wait("2026-10-12 08:00")["charge"] == "0.038"
    assert run.say("solvang", "Please approve.", "solvang/approval")["kind"] == "gate_miss"


def test_on_delegate_the_deputy_never_grants_and_solvang_is_reached_on_tuesday_morning() -> None:
    run = Rehearsal(script_of("delegate"))
    deputy = run.say("carvalho", "Please approve by 14.2, Molefe confirms the claim rules", "carvalho/approval")
    assert (deputy["kind"], deputy["grants"]) == ("answered", [])
    run.wait("Tue 11:59")
    assert run.say("solvang", "Please approve.", "solvang/approval")["kind"] == "gate_miss"
    assert run.say("solvang", "Please approve.", "solvang/approval")["kind"] == "automatic"


@pytest.mark.parametrize(
    "text",
    [
        "Amendment 2: when does the clock stop?",
        "Under A2, is the trip out in?",
        "clause 14.3: trip out and back?",
        "按第二号修正案，停钟到什么时候？",
        "amendment_2.md says resumed",
        "第14.2条怎么算？",
    ],
)
def test_molefe_accepts_the_amendment_or_a_clause_of_it(text: str) -> None:
    assert Rehearsal(script_of("original")).say("molefe", text, "molefe/clock")["facts"] == ["F2"]


@pytest.mark.parametrize(
    "text", ["When does it stop?", "Clause 14.2 of the master terms?", "By Amendment 1?", "14.2 hours?"]
)
def test_molefe_wants_the_amendment_in_force(text: str) -> None:
    assert Rehearsal(script_of("original")).say("molefe", text, "molefe/clock")["kind"] == "gate_miss"


def test_a_report_is_no_claim_line_and_opens_no_allowance() -> None:
    run = Rehearsal(script_of("original"))
    assert run.say("molefe", "HD-11/2026-07-14 got no allowance?", "molefe/allowance")["kind"] == "gate_miss"
    assert run.say("molefe", "Statement row VM-201, 14 July, MP-1?", "molefe/allowance")["facts"] == ["F4", "F5"]


def test_the_side_letter_is_known_by_a_line_of_theirs_since_july() -> None:
    run = Rehearsal(script_of("side_letter"))
    old = run.say("ferrer", "HD-11 / 2 June / TDS-1: amendment or side letter?", "ferrer/side_letter")
    assert old["kind"] == "gate_miss"
    assert run.say("ferrer", "And VM-201 / 14 July / MP-1?", "ferrer/side_letter")["facts"] == ["F12"]


def test_carvalho_signs_only_what_molefe_confirmed_to_the_run_before() -> None:
    run = Rehearsal(script_of("original"))
    request = "Please approve the claim rules by Amendment 2, 14.2-14.4; Molefe has confirmed the reading."
    assert run.say("carvalho", request, "carvalho/approval")["kind"] == "needs_miss"
    assert run.state.grants == {}


def test_the_sponsors_blessing_grants_nothing_and_is_a_misconception() -> None:
    run = Rehearsal(script_of("original"))
    blessing = run.say("achterberg", "Do you approve changing the claims?", "achterberg/approval")
    assert (blessing["grants"], blessing["misconceptions"]) == ([], ["achterberg/approval"])
