"""Where a run's conversations stand: the fold of its events. Nothing else is ever consulted.

Decisions (what a message matched, what it cost) are read from the events, never made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Protocol

from stakeholders.script import Script

MESSAGE, WAIT, INBOX, INBOX_READ, DEADLINE = (
    "contact.message",
    "contact.wait",
    "contact.inbox",
    "contact.inbox_read",
    "contact.deadline",
)
TRIAL_REQUESTED, TRIAL_REPORTED = "trial.requested", "trial.reported"
SILENT_KINDS = ("automatic", "silent")  #: of messages that their person never read


class LoggedEvent(Protocol):
    """What the fold needs of an event of the run's log."""

    @property
    def seq(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def payload(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Told:
    """A message that a person read: its text, what the matcher made of it, whether it named any topic."""

    text: str
    parts: Mapping[str, tuple[str, ...]]  #: topic → the parts of the message about it
    kind: str


@dataclass
class PersonState:
    """What one person has been asked so far."""

    counted: int = 0  #: answered messages: they use up patience and are charged
    attempts: int = 0  #: answered messages, fallbacks and fishing: they use up ``hard_limit``
    told: list[Told] = field(default_factory=list)
    answered: set[str] = field(default_factory=set)  #: topics answered


@dataclass(frozen=True)
class Release:
    """When a fact was first released, and by whom (``via``: message or inbox)."""

    person: str
    via: str
    at: datetime | None
    seq: int


@dataclass
class State:
    """A run as the engine knows it. ``now`` is the customer's local time, None without a calendar."""

    now: datetime | None
    seq: int = 0
    people: dict[str, PersonState] = field(default_factory=dict)
    released: dict[str, Release] = field(default_factory=dict)
    grants: dict[str, str] = field(default_factory=dict)  #: approval → who gave it
    requests: dict[str, Mapping[str, Any]] = field(default_factory=dict)  #: client id → event payload
    arrived_after: dict[str, int] = field(default_factory=dict)  #: client id → letters it brought, before the next
    contacts: list[datetime | None] = field(default_factory=list)  #: the clock after each answered message
    waits: list[datetime | None] = field(default_factory=list)  #: the clock after each wait
    letters: dict[str, Mapping[str, Any]] = field(default_factory=dict)  #: inbox messages that arrived
    letters_read: set[str] = field(default_factory=set)
    misconceptions: dict[str, int] = field(default_factory=dict)  #: topic → number of the event that told it first
    incidents: list[tuple[str, str]] = field(default_factory=list)  #: (incident, person)
    cost: Decimal = Decimal(0)
    deadline_passed: bool = False
    trials: int = 0  #: that were reported and count
    trial_pending: str | None = None  #: client id of the one that is being run
    reports: dict[str, Mapping[str, Any]] = field(default_factory=dict)  #: client id → payload of the trial's report
    _last_request: str | None = None

    @classmethod
    def at_start(cls, script: Script) -> State:
        return cls(now=script.calendar.starts_at if script.calendar else None)

    def person(self, person_id: str) -> PersonState:
        return self.people.setdefault(person_id, PersonState())

    def knows(self, need: str) -> bool:
        """Whether a fact was released or an approval given."""
        return need in self.released or need in self.grants

    def unread(self) -> list[str]:
        return [letter for letter in self.letters if letter not in self.letters_read]

    def apply(self, event: LoggedEvent) -> None:
        """Take in the next event of the log; events that are no contacts only move ``seq``."""
        if event.seq <= self.seq:
            return
        self.seq = event.seq
        payload = event.payload
        if event.kind == MESSAGE:
            self._apply_message(payload)
        elif event.kind == WAIT:
            self._answered(payload)
            self.cost += Decimal(payload["charge"])
            self.now = moment(payload["after"])
            self.waits.append(self.now)
        elif event.kind == INBOX:
            self.letters[payload["id"]] = payload
            if self._last_request is not None:
                self.arrived_after[self._last_request] += 1
        elif event.kind == INBOX_READ:
            self.letters_read.add(payload["id"])
            self._release(payload["facts"], payload["sender"], "inbox")
        elif event.kind == DEADLINE:
            self.deadline_passed = True
        elif event.kind == TRIAL_REQUESTED:
            self._answered(payload)
            self.trial_pending = payload["client_id"]
        elif event.kind == TRIAL_REPORTED:
            self.reports[payload["client_id"]] = payload
            self.trial_pending = None
            self.trials += payload["counted"]
            self.cost += Decimal(payload["charge"])

    def _apply_message(self, payload: Mapping[str, Any]) -> None:
        self._answered(payload)
        person = self.person(payload["person"])
        person.counted += payload["counted"]
        person.attempts += payload["attempt"]
        self.cost += Decimal(payload["charge"])
        self.now = moment(payload["after"])
        if payload["counted"]:
            self.contacts.append(self.now)
        if payload["kind"] not in SILENT_KINDS:
            parts: dict[str, tuple[str, ...]] = {}
            for part in payload["parts"]:
                parts[part["topic"]] = (*parts.get(part["topic"], ()), part["text"])
            person.told.append(Told(payload["text"], parts, payload["kind"]))
        person.answered |= {part["topic"] for part in payload["parts"] if part["result"] in ("answered", "repeat")}
        for topic in payload["misconceptions"]:
            self.misconceptions.setdefault(topic, self.seq)
        for grant in payload["grants"]:
            self.grants.setdefault(grant, payload["person"])
        if payload["incident"]:
            self.incidents.append((payload["incident"], payload["person"]))
        self._release(payload["facts"], payload["person"], "message")

    def _answered(self, payload: Mapping[str, Any]) -> None:
        self._last_request = payload["client_id"]
        self.requests[payload["client_id"]] = payload
        self.arrived_after[payload["client_id"]] = 0

    def _release(self, facts: Iterable[str], person: str, via: str) -> None:
        for fact in facts:
            self.released.setdefault(fact, Release(person, via, self.now, self.seq))


def fold(script: Script, events: Iterable[LoggedEvent]) -> State:
    """The state after these events of one run, in order."""
    state = State.at_start(script)
    for event in events:
        state.apply(event)
    return state


def moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
