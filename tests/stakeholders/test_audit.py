"""What an auditor can do with a log alone: decide every message again, and get what was logged."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st
from small_customer import Matched, Part, Rehearsal, matched, small_script

from stakeholders.engine import Message, due_letters, reply, wait
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
    state = State.at_start(SCRIPT)
    for event in run.events:
        payload = dict(event.payload)
        if event.kind == MESSAGE:
            stored = payload["match"] or {"rejected": None}
            parts = tuple(Part(part["topic"], part["text"], part["score"]) for part in payload["parts"])
            match = Matched(parts, stored["rejected"], small_talk=payload["kind"] == "small_talk")
            message = Message(payload["client_id"], payload["person"], payload["text"])
            assert reply(SCRIPT, state, message, match) | {"match": None} == payload | {"match": None}
        elif event.kind == WAIT:
            assert wait(SCRIPT, state, payload["client_id"], payload["target"]) == payload
        elif event.kind == INBOX:
            assert payload in due_letters(SCRIPT, state)
        state.apply(event)
    assert state == run.state == fold(SCRIPT, run.events)


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
