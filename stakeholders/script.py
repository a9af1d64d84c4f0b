"""A scenario's people on one task: what ``stakeholders.toml`` says once the task's changes are applied and checked.

Pure: given the same files and facts, every process and every audit compiles the same script.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fdegym.lib.errors import FdegymError
from scenarios.kit.format import InboxMessage, ScenarioConfig, Stakeholder, StakeholdersFile, Topic
from scenarios.kit.gates import Condition, Gate
from scenarios.kit.render import TextProblem
from scenarios.kit.trial import Trial, TrialWords
from stakeholders.calendar import Calendar
from stakeholders.evidence import EvidenceReader
from stakeholders.gates import GateContext, fact_value
from stakeholders.terms import compiled


class ScriptInvalid(FdegymError):
    """A scenario whose people cannot be played; ``problems`` are "place: what is wrong", all of them at once."""

    http_status = 500

    def __init__(self, scenario_id: str, task_id: str, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(f"The people of {scenario_id} ({task_id}) cannot be played:\n" + "\n".join(problems))


@dataclass(frozen=True)
class TrialTerms:
    """How often the customer tries a system, at what price, and all that can be said of it."""

    prices: tuple[Decimal, ...]
    words: TrialWords


@dataclass(frozen=True)
class Script:
    """Everything the engine needs of a task. ``people`` keeps the order of the file, which is the directory's."""

    scenario_id: str
    task_id: str
    people: Mapping[str, Stakeholder]
    inbox: tuple[InboxMessage, ...]
    calendar: Calendar | None
    reader: EvidenceReader
    gates: GateContext
    trial: TrialTerms | None = None

    def topics(self) -> Iterator[tuple[str, Stakeholder, Topic]]:
        """Every topic that exists on this task as (``person/topic``, person, topic)."""
        for person in self.people.values():
            for topic in person.topics:
                yield f"{person.id}/{topic.id}", person, topic

    def topic_of(self, person: Stakeholder, key: str) -> Topic | None:
        """The topic ``person/topic`` if it is this person's and exists on this task."""
        owner, _, topic_id = key.partition("/")
        return next((topic for topic in person.topics if topic.id == topic_id), None) if owner == person.id else None


def compile_script(
    config: ScenarioConfig,
    file: StakeholdersFile,
    facts: Mapping[str, Any],
    task_id: str,
    records: Mapping[str, Collection[str]],
    record_groups: Mapping[str, Mapping[str, Collection[str]]],
) -> Script:
    """Apply the task's changes to a rendered ``stakeholders.toml`` and check what its gates refer to.

    ``records``: kind → identifiers in the visible data; ``record_groups``: group → kind → identifiers. Raises
    ``ScriptInvalid``.
    """
    people = {person.id: _person_on(person, task_id) for person in file.stakeholders}
    groups = {
        name: {kind: frozenset(identifiers) for kind, identifiers in group.items()}
        for name, group in record_groups.items()
    }
    context = GateContext(
        facts=facts,
        record_groups=groups,
        gate_documents=frozenset(_gate_documents(people)),
        document_clauses={name: document.clauses for name, document in config.documents.items()},
    )
    problems = list(_problems(config, people, context))
    trial = None
    if config.trial is not None:
        try:
            trial = _trial_terms(config.trial, facts)
        except TextProblem as error:
            problems.append(str(error.problem))
    if problems:
        raise ScriptInvalid(config.id, task_id, problems)
    inbox = [_letter_on(letter, task_id) for letter in file.inbox]
    return Script(
        scenario_id=config.id,
        task_id=task_id,
        people=people,
        inbox=tuple(letter for letter in inbox if letter is not None),
        calendar=Calendar(config.calendar) if config.calendar else None,
        reader=EvidenceReader(config.records, records, config.documents),
        gates=context,
        trial=trial,
    )


def _trial_terms(trial: Trial, facts: Mapping[str, Any]) -> TrialTerms:
    return TrialTerms(tuple(trial.prices), TrialWords.of(trial, facts))


def _person_on(person: Stakeholder, task_id: str) -> Stakeholder:
    topics = [_topic_on(topic, task_id) for topic in person.topics if topic.tasks is None or task_id in topic.tasks]
    update: dict[str, Any] = {"topics": topics, "on": {}}
    change = person.on.get(task_id)
    if change is not None:
        update |= {name: getattr(change, name) for name in change.model_fields_set}
        if change.always is not None:
            update["topics"] = []
    return person.model_copy(update=update)


def _topic_on(topic: Topic, task_id: str) -> Topic:
    change = topic.on.get(task_id)
    if change is None:
        return topic.model_copy(update={"on": {}})
    update = {name: getattr(change, name) for name in change.model_fields_set if getattr(change, name) is not None}
    if update.get("gate") is False:
        update |= {"gate": None, "needs": update.get("needs", [])}
    return topic.model_copy(update=update | {"on": {}})


def _letter_on(letter: InboxMessage, task_id: str) -> InboxMessage | None:
    text = letter.on.get(task_id, letter.text)
    return letter.model_copy(update={"text": text, "on": {}}) if text else None


def _gates(people: Mapping[str, Stakeholder]) -> Iterator[tuple[str, Gate]]:
    for person in people.values():
        for topic in person.topics:
            if topic.gate is not None:
                yield f"{person.id}/{topic.id}", topic.gate


def _gate_documents(people: Mapping[str, Stakeholder]) -> Iterator[str]:
    for _, gate in _gates(people):
        for leaf in gate.leaves():
            if leaf.cites_document is not None:
                yield leaf.cites_document.document


def _problems(config: ScenarioConfig, people: Mapping[str, Stakeholder], context: GateContext) -> Iterator[str]:
    for place, gate in _gates(people):
        for leaf in gate.leaves():
            yield from (f"{place}.gate: {problem}" for problem in _leaf_problems(leaf, config, context))
    for person in people.values():
        incident = person.off_limits.incident if person.off_limits else None
        if incident is not None and incident not in config.incidents:
            yield f"{person.id}.off_limits: scenario.toml has no incident {incident!r}"
        for topic in person.topics:
            if (topic.gate or topic.needs) and not topic.gate_miss:
                yield f"{person.id}/{topic.id}: a topic with a gate or needs has a gate_miss"


def _leaf_problems(leaf: Condition, config: ScenarioConfig, context: GateContext) -> Iterator[str]:
    if leaf.cites_number is not None:
        value = fact_value(context.facts, leaf.cites_number.fact)
        if isinstance(value, bool) or not _is_number(value):
            yield f"cites_number: the fact {leaf.cites_number.fact!r} is {value!r}, not a number"
    if leaf.cites_record is not None:
        for kind in leaf.cites_record.kinds:
            if kind not in config.records:
                yield f"cites_record: scenario.toml has no records.{kind}"
        if leaf.cites_record.among is not None and leaf.cites_record.among not in context.record_groups:
            yield f"cites_record: the world made no record group {leaf.cites_record.among!r}"
    if leaf.cites_document is not None:
        document = config.documents.get(leaf.cites_document.document)
        if document is None:
            yield f"cites_document: scenario.toml has no documents.{leaf.cites_document.document}"
        else:
            unknown = sorted(set(leaf.cites_document.clauses) - set(document.clauses))
            if unknown:
                yield f"cites_document: {leaf.cites_document.document} has no clause {', '.join(unknown)}"
    for group in leaf.mentions or ():
        for term in group:
            try:
                compiled(term)
            except ValueError as problem:
                yield f"mentions: {problem}"


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
