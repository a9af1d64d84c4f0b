"""Deciding a whole conversation again from its log: what an audit does to know that every reply followed the rules.

Pure. The matcher's decisions are taken from the log, as everywhere; all else (words, gates, charges, approvals, letters,
the customer's clock) is decided anew by the engine and held against what the log says. What a trial found is taken from the
log too; that the scenario has words for it, its price and its number are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fdegym.lib.errors import FdegymError
from stakeholders import engine
from stakeholders.script import Script
from stakeholders.state import (
    DEADLINE,
    INBOX,
    INBOX_READ,
    MESSAGE,
    TRIAL_REPORTED,
    TRIAL_REQUESTED,
    WAIT,
    LoggedEvent,
    State,
)
from stakeholders.trials import ask_for_trial, report_trial, result_of, unsayable

#: Field of an event → what it is called for somebody who reads an audit.
WORDS = {
    "answer": "the answer",
    "kind": "how it was taken",
    "parts": "the topics it was answered on",
    "facts": "the facts it released",
    "grants": "the approvals it gave",
    "misconceptions": "the misconceptions it told",
    "incident": "the incident",
    "charge": "the charge",
    "counted": "whether it counts as a contact",
    "attempt": "whether it uses up patience",
    "minutes": "the customer's minutes",
    "before": "the customer's clock before it",
    "after": "the customer's clock after it",
    "quarters": "the quarters of a day",
    "at": "the customer's clock",
    "sender": "who sent it",
    "text": "its text",
    "carries": "the facts it carries",
    "match": "what the matcher found",
    "number": "which trial it is",
}


@dataclass(frozen=True, slots=True)
class Difference:
    """The first event that does not follow from those before it, in words."""

    seq: int
    words: str


@dataclass(frozen=True, slots=True)
class _Part:
    topic: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class _Score:
    topic: str
    score: float


@dataclass(frozen=True, slots=True)
class LoggedMatch:
    """What the matcher made of a message, as its event keeps it: of a topic's parts, the text and the best score."""

    parts: tuple[_Part, ...]
    rejected: str | None
    small_talk: bool
    scores: tuple[_Score, ...]

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> LoggedMatch | None:
        kept = payload["match"]
        if kept is None:
            return None
        parts = tuple(_Part(part["topic"], part["text"], part["score"]) for part in payload["parts"])
        scores = tuple(_Score(topic, score) for topic, score in kept["scores"].items())
        return cls(parts, kept["rejected"], kept["small_talk"], scores)


def first_difference(script: Script, events: Iterable[LoggedEvent]) -> Difference | None:
    """The first ``contact.*`` or ``trial.*`` event that the engine would not have written, or None; of the whole log."""
    state = State.at_start(script)
    for event in events:
        try:
            words = _difference(script, state, event)
        except FdegymError as refused:
            words = f"by the rules it would have been refused: {refused}"
        except (KeyError, TypeError, ValueError, AttributeError) as unreadable:
            words = f"it is not written as such an event is ({type(unreadable).__name__}: {unreadable})"
        if words:
            return Difference(event.seq, f"Event {event.seq}, {_name(event)}: {words}")
        state.apply(event)
    return None


def _difference(script: Script, state: State, event: LoggedEvent) -> str:
    payload = event.payload
    if event.kind in (MESSAGE, WAIT, TRIAL_REQUESTED):
        overdue = [*engine.due_letters(script, state)]
        if overdue:
            return f"before it the letter {overdue[0]['id']!r} had come, and the log does not have it"
        if state.deadline_passed or engine.passes_deadline(script, state):
            return "the customer's deadline had passed"
        if payload["client_id"] in state.requests:
            return "the same request stands in the log twice"
    if event.kind == MESSAGE:
        message = engine.Message(payload["client_id"], payload["person"], payload["text"])
        match = LoggedMatch.of(payload) if engine.needs_match(script, state, message.person) else None
        return _compared(payload, engine.reply(script, state, message, match))
    if event.kind == WAIT:
        return _compared(payload, engine.wait(script, state, payload["client_id"], payload["target"]))
    if event.kind == INBOX:
        due = engine.due_letters(script, state)
        return _compared(payload, due[0]) if due else "by the rules no letter had come"
    if event.kind == INBOX_READ:
        if payload["id"] not in state.unread():
            return "no such letter lay there unread"
        return _compared(payload, engine.read_letter(state, payload["id"]))
    if event.kind == TRIAL_REQUESTED:
        return _compared(payload, ask_for_trial(script, state, payload["client_id"]))
    if event.kind == TRIAL_REPORTED:
        result = result_of(payload)
        return _compared(payload, report_trial(script, state, payload["client_id"], result)) or unsayable(
            script, result
        )
    if event.kind == DEADLINE and not engine.passes_deadline(script, state):
        return "by the rules the deadline had not passed"
    return ""


def _compared(logged: Mapping[str, Any], decided: Mapping[str, Any]) -> str:
    for key in sorted({*logged, *decided}, key=lambda name: (name not in WORDS, name)):
        if logged.get(key) != decided.get(key):
            what = WORDS.get(key, key)
            return f"{what} in the log is {_short(logged.get(key))}, by the rules it is {_short(decided.get(key))}"
    return ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}…"


def _name(event: LoggedEvent) -> str:
    payload = event.payload
    return {
        MESSAGE: f"the message to {payload.get('person')}",
        WAIT: f"the wait until {payload.get('target')}",
        INBOX: f"the letter from {payload.get('sender')}",
        INBOX_READ: f"the reading of the letter from {payload.get('sender')}",
        DEADLINE: "the customer's deadline",
        TRIAL_REQUESTED: "the asking for a trial",
        TRIAL_REPORTED: "the report of a trial",
    }.get(event.kind, event.kind)
