"""What an auditor can do with a log alone: decide every message again, and get what was logged."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_customer import Logged, Matched, Rehearsal, matched, small_script

from stakeholders.redecide import first_difference
from stakeholders.state import INBOX, MESSAGE, WAIT, State, fold

SCRIPT = small_script()
TEXTS = [
    "When do doors open?",
    "It is 62 %, by 14.2 of the terms",
    "PX-001 and gate 4 on 14 July",
    "The ramp is closed",
    "60, 61, 62, 63, 64",
]
TOPICS = ["ada/open", "ada/share", "ada/rule", "ada/sorting", "ada/ramp", "ben/parcel", "ben/release"]
MATCHES = st.one_of(
    st.lists(st.sampled_from(TOPICS), max_size=5).map(lambda topics: ("topics", topics)),
    st.sampled_from([("fishing", []), ("small talk", [])]),
)
STEPS = st.one_of(
    st.tuples(st.sampled_from(["ada", "ben", "cy", "di"]), st.sampled_from(TEXTS), MATCHES),
    st.sampled_from(["1h", "1d", "Tue 09:30"]),
)


def play(steps: list[object]) -> Rehearsal:
    run = Rehearsal(SCRIPT)
    for step in steps:
        if isinstance(step, str):
            run.wait(step)
            continue
        person, text, (kind, topics) = step  # type: ignore[misc]
        match = {"fishing": Matched(rejected="fishing"), "small talk": Matched(small_talk=True)}.get(kind)
        run.say(person, text, match=match or matched(text, *topics))
    return run


@given(st.lists(STEPS, max_size=14))
def test_every_decision_follows_from_the_events_before_it(steps: list[object]) -> None:
    run = play(steps)
    assert first_difference(SCRIPT, run.events) is None
    state = State.at_start(SCRIPT)
    for event in run.events:
        state.apply(event)
    assert state == run.state == fold(SCRIPT, run.events)


CONVERSATION: list[object] = [
    ("ada", "When do doors open?", ("topics", ["ada/open"])),
    ("ada", "It is 62 %, by 14.2 of the terms", ("topics", ["ada/share", "ada/rule"])),
    ("ada", "Thanks", ("small talk", [])),
    ("ben", "PX-001 and gate 4 on 14 July", ("topics", ["ben/parcel"])),
    "1d",
    ("ben", "Please release it", ("topics", ["ben/release"])),
    ("cy", "When do doors open?", ("topics", [])),
    ("di", "The ramp is closed", ("topics", [])),
]


def forged(events: Sequence[Logged], number: int, **changes: object) -> list[Logged]:
    return [
        Logged(event.seq, event.kind, {**event.payload, **changes}) if event.seq == number else event
        for event in events
    ]


FIELDS = [
    *("answer", "kind", "parts", "facts", "grants", "misconceptions", "incident", "charge", "counted", "attempt"),
    *("minutes", "before", "after", "person", "match", "quarters", "target", "sender", "carries", "at", "id"),
]


@pytest.mark.parametrize("name", FIELDS)
def test_whatever_is_changed_in_a_conversation_is_found(name: str) -> None:
    """Each field of each event that has it. Not the words of a message: those are the person's own, and the chain's."""
    run = play(CONVERSATION)
    run.read_inbox()
    changed = 0
    for event in run.events:
        if name not in event.payload:
            continue
        for value in ("something else", None):
            if value == event.payload[name]:
                continue
            found = first_difference(SCRIPT, forged(run.events, event.seq, **{name: value}))
            assert found is not None, (event.seq, event.kind, name, value)
            assert found.seq >= event.seq
            changed += 1
    assert changed


@pytest.mark.parametrize("number", range(1, 8))
def test_an_event_that_is_left_out_or_stands_twice_is_found_by_what_follows(number: int) -> None:
    """The chain finds that anyway; here the conversation itself does not add up any more."""
    run = play(CONVERSATION)
    left_out = [event for event in run.events if event.seq != number]
    renumbered = [Logged(seq, event.kind, event.payload) for seq, event in enumerate(left_out, start=1)]
    assert first_difference(SCRIPT, renumbered) is not None
    twice = [*run.events[:number], *run.events[number - 1 :]]
    renumbered = [Logged(seq, event.kind, event.payload) for seq, event in enumerate(twice, start=1)]
    assert first_difference(SCRIPT, renumbered) is not None


def test_a_letter_that_was_kept_back_is_found() -> None:
    run = play(CONVERSATION)
    kept_back = next(event for event in run.events if event.kind == INBOX)
    rest = [event for event in run.events if event is not kept_back]
    renumbered = [Logged(seq, event.kind, event.payload) for seq, event in enumerate(rest, start=1)]
    found = first_difference(SCRIPT, renumbered)
    assert found is not None
    assert "letter" in found.words


def test_a_charge_that_was_lowered_is_named_with_the_right_one() -> None:
    run = play(CONVERSATION)
    found = first_difference(SCRIPT, forged(run.events, 1, charge="0"))
    assert found is not None
    assert found.words == "Event 1, the message to ada: the charge in the log is '0', by the rules it is '0.01'"


@given(st.lists(STEPS, max_size=25))
def test_no_conversation_breaks_the_rules_of_patience(steps: list[object]) -> None:
    run = play(steps)
    assert run.state.cost == sum((Decimal(event.payload.get("charge", "0")) for event in run.events), Decimal(0))
    before = None
    for event in run.events:
        if event.kind in (MESSAGE, WAIT):
            assert before is None or event.payload["before"] == before  # the clock moves by contacts and waits alone
            before = event.payload["after"]
            assert event.payload["before"] <= event.payload["after"]
        if event.kind == MESSAGE:
            free = Decimal(event.payload["charge"]) == 0
            assert free == (event.payload["kind"] in ("fallback", "fishing", "automatic", "silent"))
            assert event.payload["counted"] == (not free)
            if event.payload["kind"] in ("gate_miss", "needs_miss", "fallback", "fishing", "automatic", "silent"):
                assert event.payload["facts"] == event.payload["grants"] == []
    for person, state in run.state.people.items():
        assert state.counted <= state.attempts <= SCRIPT.people[person].patience.hard_limit
    facts = [fact for event in run.events for fact in event.payload.get("facts", [])]
    assert len(facts) == len(set(facts))  # released once
