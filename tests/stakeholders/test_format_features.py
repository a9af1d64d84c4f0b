"""Every feature of the scenario format that ``test_engine`` leaves open, each on a script of its own size."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError
from small_customer import PEOPLE, RECORDS, SCENARIO, Matched, Rehearsal, small_script, without_calendar

from grading.anchors import TaskAnchors
from grading.contacts import fold_contacts
from grading.replay import GradedReplay
from grading.verdict import judge
from scenarios.kit.format import ScenarioConfig, StakeholdersFile
from scenarios.kit.gates import Condition
from stakeholders.calendar import WaitRefused
from stakeholders.script import Script, ScriptInvalid, compile_script

GROUPS = {"lost": {"parcel": ["PX-002"], "scan": ["gate 4|2026-07-14"]}}


def script(people: str, *, facts: Mapping[str, Any] | None = None, task_id: str = "original") -> Script:
    """One person, ada, unless ``people`` has more; the records of the small customer, two of them lost."""
    head = """
[[stakeholders]]
id = "ada"
name = "Ada"
role = "Lead"
persona = "Leads."
patience = { cost = 0.01, soft_limit = 9, over_factor = 2, hard_limit = 20 }
fallback = "What?"
"""
    config = ScenarioConfig.model_validate(tomllib.loads(SCENARIO))
    file = StakeholdersFile.model_validate(tomllib.loads(head + people))
    return compile_script(config, file, {"late_share": 0.62, "loss": -403, **(facts or {})}, task_id, RECORDS, GROUPS)


def gated(gate: str) -> Script:
    topic = f'[[stakeholders.topics]]\nid = "topic"\nabout = "x"\nanswer = "Yes."\ngate_miss = "No."\ngate = {gate}\n'
    return script(topic)


def opens(gate: str, *messages: str) -> bool:
    """Whether the last of the messages, all about the topic, opens the gate."""
    run = Rehearsal(gated(gate))
    return [run.say("ada", text, "ada/topic")["kind"] for text in messages][-1] == "answered"


# ---- conditions and their nesting

MENTIONS = '{ mentions = [["ramp", "坡道"], ["closed", "关闭"]] }'
NUMBER = '{ cites_number = { fact = "late_share", tolerance = 0.01 } }'
RECORD = '{ cites_record = { kinds = ["parcel"] } }'
DOCUMENT = '{ cites_document = { document = "rota" } }'


@pytest.mark.parametrize(
    ("gate", "message", "met"),
    [
        (MENTIONS, "The ramp was closed", True),
        (MENTIONS, "The ramp", False),
        (MENTIONS, "坡道关闭了", True),
        (NUMBER, "It is 62 %", True),
        (NUMBER, "It is 60 %", False),
        ('{ cites_number = { fact = "loss", unit = "h", unit_required = true } }', "A loss of 403", False),
        ('{ cites_number = { fact = "loss", unit = "h", unit_required = true } }', "A loss of 403 h", True),
        ('{ cites_number = { fact = "loss", signed = true } }', "It is 403", False),
        ('{ cites_number = { fact = "loss", signed = true } }', "It is -403", True),
        (RECORD, "PX-001?", True),
        (RECORD, "PX-999?", False),
        (RECORD, "gate 4 on 14 July?", False),
        ('{ cites_record = { kinds = ["parcel", "scan"] } }', "gate 4 on 14 July?", True),
        ('{ cites_record = { kinds = ["parcel"], among = "lost" } }', "PX-001?", False),
        ('{ cites_record = { kinds = ["parcel"], among = "lost" } }', "PX-002?", True),
        ('{ cites_record = { kinds = ["parcel"], among = "lost" } }', "gate 4 on 14 July?", False),
        (DOCUMENT, "By the rota", True),
        (DOCUMENT, "By the tariff", False),
        ('{ cites_document = { document = "terms", clauses = ["14.2"] } }', "By the terms", True),
        ('{ cites_document = { document = "terms", clauses = ["14.2"] } }', "By 14.2", True),
        (
            '{ cites_document = { document = "terms", clauses = ["14.2"], clause_required = true } }',
            "By the terms",
            False,
        ),
    ],
)
def test_each_kind_of_condition_by_itself(gate: str, message: str, met: bool) -> None:
    assert opens(gate, message) == met


@pytest.mark.parametrize(
    ("gate", "message", "met"),
    [
        (f"{{ any_of = [{RECORD}, {DOCUMENT}] }}", "By the rota", True),
        (f"{{ any_of = [{RECORD}, {DOCUMENT}] }}", "PX-001", True),
        (f"{{ any_of = [{RECORD}, {DOCUMENT}] }}", "62 %", False),
        (f"{{ all_of = [{RECORD}, {DOCUMENT}] }}", "By the rota", False),
        (f"{{ all_of = [{RECORD}, {DOCUMENT}] }}", "PX-001, by the rota", True),
        (f"{{ all_of = [{NUMBER}, {{ any_of = [{RECORD}, {MENTIONS}] }}] }}", "62 %, the ramp was closed", True),
        (f"{{ all_of = [{NUMBER}, {{ any_of = [{RECORD}, {MENTIONS}] }}] }}", "62 %, the ramp", False),
        (f"{{ all_of = [{NUMBER}, {{ any_of = [{RECORD}, {MENTIONS}] }}] }}", "PX-001", False),
        (f"{{ any_of = [{NUMBER}, {{ all_of = [{RECORD}, {DOCUMENT}] }}] }}", "PX-001, by the rota", True),
        (f"{{ any_of = [{NUMBER}, {{ all_of = [{RECORD}, {DOCUMENT}] }}] }}", "PX-001", False),
        (f"{{ any_of = [{NUMBER}, {{ all_of = [{RECORD}, {DOCUMENT}] }}] }}", "62 %", True),
        (
            f"{{ any_of = [{{ all_of = [{NUMBER}, {{ any_of = [{MENTIONS}, {RECORD}] }}] }}, {DOCUMENT}] }}",
            "PX-001",
            False,
        ),
        (
            f"{{ any_of = [{{ all_of = [{NUMBER}, {{ any_of = [{MENTIONS}, {RECORD}] }}] }}, {DOCUMENT}] }}",
            "62 %, PX-001",
            True,
        ),
    ],
)
def test_conditions_nest_as_deep_as_an_author_likes(gate: str, message: str, met: bool) -> None:
    assert opens(gate, message) == met


def test_the_parts_of_a_nested_gate_may_come_in_several_messages_to_the_same_person() -> None:
    gate = f"{{ all_of = [{NUMBER}, {{ any_of = [{{ all_of = [{RECORD}, {DOCUMENT}] }}, {MENTIONS}] }}] }}"
    assert opens(gate, "It is 62 %", "PX-001", "By the rota")
    assert not opens(gate, "It is 62 %", "PX-001", "And now?")


@pytest.mark.parametrize("hollow", [{"any_of": []}, {"all_of": []}, {"mentions": []}, {"mentions": [[]]}, {}])
def test_a_condition_that_is_always_or_never_met_is_refused(hollow: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Condition.model_validate(hollow)


def test_a_record_group_that_the_world_does_not_make_is_named() -> None:
    with pytest.raises(ScriptInvalid, match="the world made no record group 'found'"):
        gated('{ cites_record = { kinds = ["parcel"], among = "found" } }')


# ---- needs, grants, exclusive topics

APPROVAL = """
[[stakeholders.topics]]
id = "sign"
about = "the signature"
answer = "Signed."
grants = ["approval:sign"]
gate = { mentions = [["please", "请"]] }
gate_miss = "Ask properly."
[[stakeholders.topics]]
id = "ship"
about = "shipping"
answer = "Shipped."
facts = ["F7"]
needs = ["approval:sign"]
gate_miss = "Not without a signature."
gate = { mentions = [["ship", "发货"]] }
"""


def test_an_approval_may_be_needed_like_a_fact_and_a_missing_needs_miss_is_the_gates() -> None:
    run = Rehearsal(script(APPROVAL))
    early = run.say("ada", "Ship it", "ada/ship")
    assert (early["kind"], early["answer"], early["facts"]) == ("needs_miss", "Not without a signature.", [])
    assert run.say("ada", "Sign it", "ada/sign")["grants"] == []
    assert run.say("ada", "Please sign it", "ada/sign")["grants"] == ["approval:sign"]
    assert run.say("ada", "Ship it", "ada/ship")["facts"] == ["F7"]


def test_an_unmet_gate_speaks_before_unmet_needs() -> None:
    run = Rehearsal(script(APPROVAL.replace('gate_miss = "Not', 'needs_miss = "Later."\ngate_miss = "Not')))
    assert run.say("ada", "Do it", "ada/ship")["answer"] == "Not without a signature."
    assert run.say("ada", "Ship it", "ada/ship")["answer"] == "Later."


def test_an_approval_is_given_once_and_to_no_message_that_the_matcher_gave_to_another_topic() -> None:
    run = Rehearsal(script(APPROVAL))
    assert run.say("ada", "Please ship, please sign", "ada/ship")["grants"] == []
    run.say("ada", "Please sign it", "ada/sign")
    again = run.say("ada", "Please sign it again", "ada/sign")
    assert (again["kind"], again["grants"]) == ("repeat", [])


def test_an_exclusive_topic_that_is_not_met_or_still_needs_something_replaces_nothing() -> None:
    people = APPROVAL.replace('id = "ship"', 'id = "ship"\nexclusive = true')
    run = Rehearsal(script(people))
    assert (
        run.say("ada", "Please ship and sign", "ada/ship", "ada/sign")["answer"]
        == "Not without a signature.\n\nSigned."
    )
    assert run.say("ada", "Please ship and sign", "ada/ship", "ada/sign")["answer"] == "Shipped."


def test_breaking_off_counts_the_topics_asked_and_is_said_once() -> None:
    topics = "".join(
        f'[[stakeholders.topics]]\nid = "t{n}"\nabout = "x"\nanswer = "A{n}."\nfacts = ["F{n}"]\n' for n in range(6)
    )
    run = Rehearsal(script(topics))
    answer = run.say("ada", "Everything", *(f"ada/t{n}" for n in range(5, -1, -1)))
    assert answer["answer"] == "A5.\n\nA4.\n\nA3.\n\nOne thing at a time, please."
    assert answer["facts"] == ["F5", "F4", "F3"]
    assert [part["result"] for part in answer["parts"]] == ["answered"] * 3 + ["broken_off"] * 3
    assert (answer["charge"], answer["counted"]) == ("0.01", True)
    exactly = Rehearsal(script(topics)).say("ada", "Three things", "ada/t0", "ada/t1", "ada/t2")
    assert exactly["answer"] == "A0.\n\nA1.\n\nA2."


# ---- what differs by task

CHANGES = """
[[stakeholders.topics]]
id = "rule"
about = "the rule"
answer = "Old."
facts = ["F1"]
grants = ["approval:rule"]
gate = { mentions = [["rule", "规则"]] }
gate_miss = "Which?"
needs_miss = "Later."
"""


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ('answer = "New."', {"answer": "New.", "facts": ["F1"]}),
        ('facts = ["F2"]', {"answer": "Old.", "facts": ["F2"]}),
        ("facts = []", {"facts": []}),
        ("grants = []", {"grants": []}),
        ("misconception = true", {"misconceptions": ["ada/rule"], "facts": ["F1"]}),
        ('gate = { mentions = [["clause", "条款"]] }', {"kind": "gate_miss", "answer": "Which?"}),
        ('gate = { mentions = [["clause", "条款"]] }\ngate_miss = "Which clause?"', {"answer": "Which clause?"}),
        ('needs = ["F9"]', {"kind": "needs_miss", "answer": "Later."}),
        ('needs = ["F9"]\nneeds_miss = "Ask Ben."', {"answer": "Ask Ben."}),
        ("gate = false", {"kind": "answered"}),
    ],
)
def test_each_key_of_a_topic_may_differ_on_one_task_and_on_no_other(change: str, wanted: dict[str, Any]) -> None:
    people = f"{CHANGES}[stakeholders.topics.on.other]\n{change}\n"
    there = Rehearsal(script(people, task_id="other")).say("ada", "What is the rule?", "ada/rule")
    assert {key: there[key] for key in wanted} == wanted
    here = Rehearsal(script(people)).say("ada", "What is the rule?", "ada/rule")
    assert here == Rehearsal(script(CHANGES)).say("ada", "What is the rule?", "ada/rule")


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ('fallback = "Nothing today."', {"kind": "fallback", "answer": "Nothing today."}),
        ('always = "Ask Ben."', {"kind": "always", "answer": "Ask Ben.", "charge": "0.01"}),
        ("availability = { absent = true }", {"kind": "automatic", "charge": "0"}),
        ('availability = { absent = true, automatic_reply = "Moved." }', {"answer": "Moved."}),
    ],
)
def test_fallback_always_and_absence_may_differ_on_one_task(change: str, wanted: dict[str, Any]) -> None:
    people = f"{CHANGES}[stakeholders.on.other]\n{change}\n"
    there = Rehearsal(script(people, task_id="other")).say("ada", "Well?")
    assert {key: there[key] for key in wanted} == wanted
    assert Rehearsal(script(people)).say("ada", "Well?")["answer"] == "What?"


def test_who_always_says_the_same_on_a_task_has_no_topics_there() -> None:
    people = f'{CHANGES}[stakeholders.on.other]\nalways = "Ask Ben."\n'
    there = Rehearsal(script(people, task_id="other"))
    assert [key for key, _, _ in there.script.topics()] == []
    assert there.say("ada", "What is the rule?", "ada/rule")["facts"] == []
    assert [key for key, _, _ in script(people).topics()] == ["ada/rule"]


# ---- who can be reached


def available(limits: str, **options: Any) -> Rehearsal:
    return Rehearsal(small_script(people=PEOPLE.replace("availability = { absent = true }", limits), **options))


def test_weekly_windows_name_days_and_hours() -> None:
    run = available('availability = { windows = [{ days = ["tue", "thu"], opens = 10:00:00, closes = 12:00:00 }] }')
    assert run.say("di", "Anything?")["answer"] == "Back Tuesday 6 October, 10:00."
    run.wait("Tue 10:00")
    assert run.say("di", "Anything?")["answer"] == "No."
    run.wait("Tue 12:00")
    assert run.say("di", "Anything?")["answer"] == "Back Thursday 8 October, 10:00."


def test_a_window_that_begins_at_night_is_open_when_the_customer_opens() -> None:
    every_day = '["mon", "tue", "wed", "thu", "fri"]'
    run = available(f"availability = {{ windows = [{{ days = {every_day}, opens = 01:00:00, closes = 11:00:00 }}] }}")
    assert run.say("di", "Anything?")["answer"] == "No."
    run.wait("Mon 11:00")
    assert run.say("di", "Anything?")["answer"] == "Back Tuesday 6 October, 08:00."


def test_somebody_away_until_a_date_is_back_within_their_own_windows_from_then_on() -> None:
    limits = (
        "availability = { away_until = 2026-10-08T08:00:00, "
        'windows = [{ days = ["mon", "thu"], opens = 14:00:00, closes = 16:00:00 }] }'
    )
    run = available(limits)
    assert run.say("di", "Anything?")["answer"] == "Back Thursday 8 October, 14:00."
    run.wait("2026-10-08 14:00")
    assert run.say("di", "Anything?")["answer"] == "No."


def test_somebody_leaves_after_contacts_of_their_own_and_those_not_charged_do_not_count() -> None:
    people = PEOPLE.replace(
        'breaks_off = "One at a time."', 'breaks_off = "One at a time."\navailability.leaves_after_contacts = 2'
    )
    run = Rehearsal(small_script(people=people, scenario=without_calendar()))
    run.say("ada", "What about the weather?")
    run.say("ben", "PX-001?", "ben/parcel")
    assert [run.say("ada", "When do doors open?", "ada/open")["kind"] for _ in range(3)] == [
        "answered",
        "repeat",
        "automatic",
    ]
    assert run.say("ada", "Hello?")["answer"] == "I am not here any more and do not read this."


def test_off_limits_without_an_incident_is_charged_and_no_incident() -> None:
    people = PEOPLE.replace('off_limits = { charge = 0.25, incident = "talked" }', "off_limits = { charge = 0.2 }")
    run = Rehearsal(small_script(people=people))
    charges = [run.say("cy", "What would you accept?") for _ in range(4)]
    assert [(one["kind"], one["charge"], one["incident"]) for one in charges] == [
        *[("off_limits", "0.2", None)] * 3,
        ("silent", "0", None),
    ]
    assert run.state.incidents == []


def test_somebody_off_limits_who_cannot_be_reached_is_neither_charged_nor_an_incident() -> None:
    people = PEOPLE.replace("off_limits = {", "availability = { absent = true }\noff_limits = {")
    answer = Rehearsal(small_script(people=people)).say("cy", "Hello?")
    assert (answer["kind"], answer["charge"], answer["incident"]) == ("automatic", "0", None)


def test_a_soft_limit_counts_charged_messages_and_the_factor_holds_from_then_on() -> None:
    people = PEOPLE.replace(
        "soft_limit = 2, over_factor = 3, hard_limit = 5", "soft_limit = 2, over_factor = 2.5, hard_limit = 7"
    )
    run = Rehearsal(small_script(people=people))
    messages = [("Thanks", Matched(small_talk=True)), ("Weather?", Matched()), ("All?", Matched(rejected="fishing"))]
    charges = [run.say("ada", text, match=match)["charge"] for text, match in messages]
    charges += [run.say("ada", "Share?", "ada/share")["charge"] for _ in range(3)]
    assert charges == ["0.01", "0", "0", "0.01", "0.025", "0.025"]
    assert run.say("ada", "Share?", "ada/share")["kind"] == "gate_miss"
    assert run.say("ada", "Share?", "ada/share")["kind"] == "silent"


# ---- a customer without a calendar


def test_without_a_calendar_waiting_is_refused_in_words_and_nothing_is_charged() -> None:
    run = Rehearsal(small_script(scenario=without_calendar()))
    with pytest.raises(WaitRefused, match=r"nobody at this customer keeps hours\. Nothing was changed"):
        run.wait("1d")
    assert (run.state.cost, run.events) == (Decimal(0), [])


def test_without_a_calendar_letters_come_after_contacts_and_facts() -> None:
    people = (
        PEOPLE
        + '[[inbox]]\nid = "after_doors"\nsender = "ben"\nwhen = { after_fact = "F1" }\ntext = "Doors."\nfacts = ["F8"]\n'
    )
    run = Rehearsal(small_script(people=people, scenario=without_calendar()))
    assert run.say("ada", "When do doors open?", "ada/open")["letters"] == ["after_doors"]
    assert run.say("ada", "When do doors open?", "ada/open")["letters"] == ["after_two"]
    assert run.state.letters["after_doors"]["at"] is None
    assert run.read_inbox() == ["F8"]
    assert "next_morning" not in run.state.letters


@pytest.mark.parametrize("trigger", ["after_contacts = 1", 'after_fact = "F1"', "after_waits = 1", "after_hours = 0.5"])
def test_a_delay_in_working_hours_goes_with_every_trigger(trigger: str) -> None:
    people = f'{PEOPLE}[[inbox]]\nid = "late"\nsender = "ada"\nwhen = {{ {trigger}, delay_h = 9 }}\ntext = "Late."\n'
    run = Rehearsal(small_script(people=people))
    run.say("ada", "When do doors open?", "ada/open")
    first = run.wait("1h")
    assert "late" not in first["letters"]
    assert "late" in run.wait("1d")["letters"]


# ---- found from data alone


def test_who_asks_nobody_is_graded_on_the_same_scale() -> None:
    """Facts that no person told are no part of the score: what counts is the KPI, and C is nothing."""
    nobody = fold_contacts([])
    asked = fold_contacts([("contact.message", {"person": "ada", "charge": "0.04", "counted": True, "facts": ["F1"]})])
    replay, anchors = GradedReplay(10.0, (), (), "", 0.0, 0.0, 0), TaskAnchors(0.0, 10.0)
    alone, together = (judge(replay, talk, anchors, {}).score for talk in (nobody, asked))
    assert (alone.score, alone.resolved) == (Decimal(1), True)
    assert (together.score, together.uplift) == (Decimal("0.96"), alone.uplift)
