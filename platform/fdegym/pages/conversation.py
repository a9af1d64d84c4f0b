"""What the debrief tells of the conversation: who was asked what, what it cost, and which key facts it brought."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from fdegym.lib.errors import FdegymError
from fdegym.runs.models import Run, RunEvent
from grading.models import Grade
from scenarios.kit.load import Scenario
from stakeholders.script import Script
from stakeholders.scripts import script_of

#: How a message ended, in the words of the debrief. Before it, nobody is told.
OUTCOMES = {
    "answered": "Answered.",
    "repeat": "Answered before: the same words again.",
    "gate_miss": "Not opened: this person wanted to be shown something first.",
    "needs_miss": "Not yet: something else had to be settled before.",
    "small_talk": "Small talk.",
    "always": "Answers everything with these words.",
    "off_limits": "Must not be contacted.",
    "fallback": "Not understood as a question for this person. Free of charge.",
    "fishing": "Too broad to be answered. Free of charge.",
    "automatic": "Away: an automatic reply. Free of charge.",
    "silent": "No reply: this person’s patience was over. Free of charge.",
}


@dataclass(frozen=True, slots=True)
class Contact:
    """One thing that could spend the customer's time: a message, a wait, a trial, a letter that was read."""

    person: str
    clock: str
    charge: Decimal
    text: str
    answer: str
    outcome: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PersonTotal:
    name: str
    role: str
    messages: int
    charge: Decimal


@dataclass(frozen=True, slots=True)
class Fact:
    """A key fact. ``by`` told it at ``clock``; or was asked for it then and said ``hint`` instead."""

    title: str
    text: str
    released: bool
    by: str
    clock: str
    visible_in: tuple[str, ...]
    hint: str = ""
    letter: str = ""  #: the message that carried it and was not read, in words


@dataclass(frozen=True, slots=True)
class Names:
    """Who and what ids of the log mean, for people to read."""

    people: Mapping[str, tuple[str, str]]  #: id → name, role
    facts: Mapping[str, str] = field(default_factory=dict)  #: id → title

    def person(self, person_id: Any) -> str:
        return self.people.get(str(person_id), (str(person_id), ""))[0]


def customer_clock(text: Any) -> str:
    """``2026-10-05T08:45`` of the customer's calendar as ``Mon 5 Oct, 08:45``."""
    try:
        return datetime.fromisoformat(str(text)).strftime("%a %-d %b, %H:%M")
    except ValueError:
        return ""


def _charge_of(event: RunEvent) -> Decimal:
    return Decimal(str(event.payload.get("charge") or "0"))


def _notes(payload: Mapping[str, Any], names: Names) -> tuple[str, ...]:
    notes = [f"Told: {names.facts.get(fact, fact)}." for fact in payload.get("facts") or ()]
    notes += [f"Approved: {grant.removeprefix('approval:')}." for grant in payload.get("grants") or ()]
    if payload.get("misconceptions"):
        notes.append("Believes this sincerely, and is wrong.")
    return tuple(notes)


def _when_read(reading: Mapping[str, Any] | None) -> str:
    if reading is None:
        return " and was not read"
    clock = customer_clock(reading.get("at"))
    return f"; read {clock}" if clock else "; read"


def contacts_of(log: Sequence[RunEvent], names: Names) -> list[Contact]:
    """In the log's order; a letter stands where it arrived, read or not."""
    read = {event.payload.get("id"): event.payload for event in log if event.kind == "contact.inbox_read"}
    contacts = []
    for event in log:
        payload, notes = event.payload, _notes(event.payload, names)
        clock = customer_clock(payload.get("before") or payload.get("at"))
        if event.kind == "contact.message":
            outcome = OUTCOMES.get(str(payload.get("kind")), "")
            person = names.person(payload.get("person"))
            text, answer = str(payload.get("text") or ""), str(payload.get("answer") or "")
        elif event.kind == "contact.wait":
            person, text, answer = "Waiting", "", ""
            outcome = f"Until {customer_clock(payload.get('after'))}."
        elif event.kind == "contact.inbox":
            person, text, answer = names.person(payload.get("sender")), "", str(payload.get("text") or "")
            reading = read.get(payload.get("id"))
            notes = _notes(reading, names) if reading else ()
            outcome = f"Came unasked{_when_read(reading)}. Free of charge."
        elif event.kind == "trial.reported":
            person, text = "Trial run", ""
            answer = "\n".join(said["text"] for said in payload["said"])
            outcome = str(payload["words"]) if payload["counted"] else f"{payload['words']} Free of charge."
        else:
            continue
        contacts.append(Contact(person, clock, _charge_of(event), text, answer, outcome, notes))
    return contacts


def totals_of(grade: Grade, names: Names) -> list[PersonTotal]:
    """Contacts and charges by person, as the grade has them."""
    rows = []
    for person, entry in grade.contacts.get("people", {}).items():
        name, role = names.people.get(person, (person, ""))
        rows.append(PersonTotal(name, role, int(entry["contacts"]), Decimal(entry["cost"])))
    waiting = Decimal(str(grade.contacts.get("waiting") or "0"))
    if waiting:
        rows.append(PersonTotal("Waiting", "", 0, waiting))
    if trials := grade.contacts.get("trials"):
        rows.append(PersonTotal("Trial runs", "", int(trials["count"]), Decimal(trials["cost"])))
    return rows


def _asked_in_vain(log: Iterable[RunEvent], names: Names, script: Script | None) -> dict[str, tuple[str, str, str]]:
    """Fact → who was asked for it last and did not tell, when, and what they said instead."""
    topics = {key: topic for key, _person, topic in script.topics()} if script else {}
    asked = {}
    for event in log:
        for part in event.payload.get("parts") or ():
            topic = topics.get(part["topic"])
            if topic is None or part["result"] not in ("gate_miss", "needs_miss"):
                continue
            hint = (topic.needs_miss if part["result"] == "needs_miss" else None) or topic.gate_miss or ""
            who, clock = names.person(event.payload.get("person")), customer_clock(event.payload.get("before"))
            asked.update(dict.fromkeys(topic.facts, (who, clock, hint)))
    return asked


def facts_of(grade: Grade, log: Sequence[RunEvent], names: Names, script: Script | None = None) -> list[Fact]:
    """The task's key facts. One that nobody told was perhaps read: the page never says "missed".

    With the run's ``script`` it is also known what was asked for and not told.
    """
    asked = _asked_in_vain(log, names, script)
    read = {event.payload.get("id") for event in log if event.kind == "contact.inbox_read"}
    unread: dict[str, str] = {}
    for event in log:
        if event.kind == "contact.inbox" and event.payload.get("id") not in read:
            clock = customer_clock(event.payload.get("at"))
            words = f"{names.person(event.payload.get('sender'))}{f', {clock}' if clock else ''}"
            unread |= dict.fromkeys(event.payload.get("carries") or (), words)
    first: dict[str, tuple[str, str]] = {}
    for event in log:
        teller = event.payload.get("person") or event.payload.get("sender")
        for fact in event.payload.get("facts") or ():
            if event.kind in ("contact.message", "contact.inbox_read"):
                first.setdefault(
                    fact, (names.person(teller), customer_clock(event.payload.get("before") or event.payload.get("at")))
                )
    facts = []
    for row in grade.key_facts:
        released = bool(row["released"])
        by, clock, hint = (*first.get(row["id"], ("", "")), "") if released else asked.get(row["id"], ("", "", ""))
        visible, letter = tuple(row.get("visible_in") or ()), "" if released else unread.get(row["id"], "")
        facts.append(Fact(row["title"], row["text"], released, by, clock, visible, hint, letter))
    return facts


def script_played(run: Run, scenario: Scenario) -> Script | None:
    """What the run's people followed; None where it was another release's, or its world is no longer here."""
    if run.release != scenario.release:
        return None
    try:
        return script_of(run)
    except FdegymError:
        return None
