"""A task as its author sees it: the people answer as in a run, and what stays hidden there is told here.

The same engine and matcher as in a run; the events are kept in memory, so that a conversation can be taken back.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from scenarios.kit.format import Stakeholder
from scenarios.kit.gates import CitesRecord, Gate
from scenarios.kit.load import Task
from stakeholders import engine
from stakeholders.calendar import words_for
from stakeholders.evidence import Evidence
from stakeholders.exchange import FindMatch
from stakeholders.gates import GateContext, is_strewn
from stakeholders.messages import clean
from stakeholders.script import Script
from stakeholders.state import DEADLINE, INBOX, INBOX_READ, MESSAGE, WAIT, State, fold

CLOSE_SCORES = 5  #: topics of a message that are shown, best first


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a conversation that nobody keeps."""

    seq: int
    kind: str
    payload: Mapping[str, Any]


def why_unmet(wanted: CitesRecord, evidence: Evidence, context: GateContext) -> str:
    """What a message lacks of a record that a gate wants, in words; empty where it cites one that is wanted."""
    kinds = " or ".join(wanted.kinds)
    given = {kind: number for kind, number in evidence.identifiers_given().items() if kind in wanted.kinds and number}
    known = sorted(record for kind, record in evidence.records() if kind in wanted.kinds)
    if not given:
        return f"no {kinds} is cited"
    if not known:
        written = sorted({found.text for found in evidence.identifiers if found.kind in wanted.kinds})
        return f"a {kinds} is cited, {', '.join(written) or 'by its fields'}, and this task's data has none such"
    if wanted.among is None:
        return ""
    group = context.record_groups[wanted.among]
    if any(record in group.get(kind, ()) for kind, record in evidence.records()):
        return ""
    return f"{', '.join(known)} is in this task's data and not among {wanted.among}"


@dataclass
class Preview:
    """One conversation with a task's people. Every method gives the lines to show."""

    task: Task
    script: Script
    find_match: FindMatch
    _events: list[Event] = field(default_factory=list)
    _turns: list[int] = field(default_factory=list)  #: how many events there were before each message and wait

    def state(self) -> State:
        return fold(self.script, self._events)

    def say(self, person_id: str, text: str) -> Iterator[str]:
        """A message, as a run would take it. Raises ``PersonUnknown`` and ``MessageRefused``."""
        person = engine.get_person(self.script, person_id)
        message = engine.Message(uuid.uuid4().hex, person_id, clean(text))
        state = self._begin_turn()
        match = None
        if engine.needs_match(self.script, state, person_id):
            match = self.find_match(self.script, message.text, person_id)
        payload = engine.reply(self.script, state, message, match)
        self._append(MESSAGE, payload)
        yield f"{person.name}: {payload['answer'] or '(no reply)'}"
        yield from self._hidden(payload)
        yield from self._why_shut(person, message.text, payload)
        yield from self._settled()

    def wait(self, target: str) -> Iterator[str]:
        """Let the customer's time pass. Raises ``WaitRefused``."""
        state = self._begin_turn()
        payload = engine.wait(self.script, state, uuid.uuid4().hex, target)
        self._append(WAIT, payload)
        yield f"  {payload['quarters']} started quarters of a working day, charged {payload['charge']}"
        yield from self._settled()

    def undo(self) -> Iterator[str]:
        """Take the last message or wait back, with what came of it."""
        if not self._turns:
            yield "There is nothing to take back."
            return
        del self._events[self._turns.pop() :]
        yield from self.standing()

    def standing(self) -> Iterator[str]:
        """What was released and spent so far."""
        state = self.state()
        missing = [fact for fact in self.task.key_facts if fact not in state.released]
        yield f"released  {', '.join(sorted(state.released)) or 'nothing'}"
        yield f"key facts still hidden  {', '.join(missing) or 'none'}"
        yield f"approvals  {', '.join(f'{grant} by {who}' for grant, who in state.grants.items()) or 'none'}"
        yield f"incidents  {', '.join(f'{incident} ({who})' for incident, who in state.incidents) or 'none'}"
        yield f"cost  {engine.decimal_text(state.cost)}"
        if state.now is not None:
            yield f"clock  {words_for(state.now)}"

    def facts(self) -> Iterator[str]:
        """What is true on the task, as switches and as the debrief words it."""
        for name, value in self.task.facts.items():
            yield f"{name} = {value!r}"
        for key, text in self.task.fact_texts.items():
            mark = "key " if key in self.task.key_facts else ""
            yield f"{mark}{key} {text.title}: {' '.join(text.text.split())}"

    def people(self) -> Iterator[str]:
        """Everybody, their patience, and every topic with what it asks for."""
        for person in self.script.people.values():
            patience = person.patience
            limits = (
                f"{patience.cost} each, {patience.soft_limit} at that, ×{patience.over_factor} to {patience.hard_limit}"
            )
            off = ", off limits" if person.off_limits else ""
            yield f"{person.id}: {person.name}, {person.role} ({limits}{off})"
            for topic in person.topics:
                gives = ", ".join([*topic.facts, *topic.grants, *(["misconception"] if topic.misconception else [])])
                asks = "; ".join(filter(None, ["a gate" if topic.gate else "", " and ".join(topic.needs)]))
                yield f"    {topic.id}{f' → {gives}' if gives else ''}{f'   wants {asks}' if asks else ''}"
        for name, group in self.task.meta.record_groups.items():
            shown = ", ".join(f"{kind} {min(records)}" for kind, records in group.items() if records)
            yield f"record group {name}: for example {shown or 'nothing, the world has none'}"

    def _hidden(self, payload: Mapping[str, Any]) -> Iterator[str]:
        yield f"  {payload['kind']}, charged {payload['charge']}"
        for part in payload["parts"]:
            unmet = f": not {' / '.join(part['unmet'])}" if part["unmet"] else ""
            yield f"  {part['topic']} {part['score']:.3f} {part['result']}{unmet}"
        decision = payload["match"] or {}
        if decision.get("rejected"):
            yield f"  matched no topic: {decision['rejected']}"
        best = sorted(decision.get("scores", {}).items(), key=lambda item: -item[1])[:CLOSE_SCORES]
        if best:
            yield f"  scores  {', '.join(f'{topic} {score:.3f}' for topic, score in best)}"
        for key in ("facts", "grants", "misconceptions"):
            if payload.get(key):
                yield f"  {key}  {', '.join(payload[key])}"

    def _why_shut(self, person: Stakeholder, text: str, payload: Mapping[str, Any]) -> Iterator[str]:
        """Of gates that stayed shut and want a record: what this message has of it."""
        evidence = self.script.reader.read(text)
        for part in payload["parts"]:
            topic = self.script.topic_of(person, part["topic"])
            if part["result"] != "gate_miss" or topic is None or not isinstance(topic.gate, Gate):
                continue
            wanted = [leaf.cites_record for leaf in topic.gate.leaves() if leaf.cites_record]
            kinds = {kind for record in wanted for kind in record.kinds}
            if is_strewn(evidence, kinds, self.script.gates):
                yield "  the message strews evidence: too many numbers, identifiers or documents, so that it cites nothing"
                continue
            for record in wanted:
                if words := why_unmet(record, evidence, self.script.gates):
                    yield f"  cites_record {'/'.join(record.kinds)}: {words}"

    def _settled(self) -> Iterator[str]:
        """Letters that have come by now, read at once, and a deadline that passed."""
        while due := engine.due_letters(self.script, self.state()):
            for letter in due:
                self._append(INBOX, letter)
                read = engine.read_letter(self.state(), letter["id"])
                self._append(INBOX_READ, read)
                yield f"Letter from {letter['sender']}: {letter['text']}"
                if read["facts"]:
                    yield f"  facts  {', '.join(read['facts'])}"
        state = self.state()
        if engine.passes_deadline(self.script, state):
            self._append(DEADLINE, {"at": None})
            yield "The customer's deadline has passed: a run would be submitted as it stands."

    def _begin_turn(self) -> State:
        self._turns.append(len(self._events))
        return self.state()

    def _append(self, kind: str, payload: Mapping[str, Any]) -> None:
        self._events.append(Event(len(self._events) + 1, kind, payload))
