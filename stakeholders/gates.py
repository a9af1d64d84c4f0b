"""Whether a message, with what the same person was told before, meets a topic's gate.

Evidence must be pointed at, not strewn: a message that gives more than four different numbers, more than two
identifiers of a kind that the gate wants, or more than two documents that some gate of the scenario asks for, cites
nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from scenarios.kit.gates import CitesDocument, CitesNumber, CitesRecord, Condition, Gate
from stakeholders.evidence import Evidence
from stakeholders.terms import SpokenText, compiled

MOST_NUMBERS = 4
MOST_IDENTIFIERS = 2
MOST_DOCUMENTS = 2


@dataclass(frozen=True)
class Heard:
    """A message as one topic hears it: what it cites as a whole, and its words about this topic."""

    evidence: Evidence
    about: tuple[SpokenText, ...]


@dataclass(frozen=True)
class GateContext:
    """What conditions are compared with: one task's facts, its record groups, the documents that its gates want."""

    facts: Mapping[str, Any]
    record_groups: Mapping[str, Mapping[str, Collection[str]]]
    gate_documents: frozenset[str]
    document_clauses: Mapping[str, Collection[str]]


@dataclass(frozen=True)
class Evaluation:
    """A gate's result. ``unmet`` names the conditions that failed, for the log and the debrief; nobody in the run sees
    them."""

    met: bool
    unmet: tuple[str, ...] = ()


def evaluate(gate: Gate | None, heard: list[Heard], context: GateContext) -> Evaluation:
    """Evaluate a gate on the messages one person heard, the present one among them. No gate is always met."""
    if gate is None:
        return Evaluation(True)
    wanted_kinds = {kind for leaf in gate.leaves() if leaf.cites_record for kind in leaf.cites_record.kinds}
    pointed = [message for message in heard if not is_strewn(message.evidence, wanted_kinds, context)]
    unmet = tuple(_name(condition) for condition in gate.all_of if not _met(condition, heard, pointed, context))
    return Evaluation(not unmet, unmet)


def is_strewn(evidence: Evidence, wanted_kinds: Collection[str], context: GateContext) -> bool:
    """Whether a message throws out more evidence than anybody needs who has found something."""
    given = evidence.identifiers_given()
    return (
        evidence.counted_numbers() > MOST_NUMBERS
        or any(given[kind] > MOST_IDENTIFIERS for kind in wanted_kinds)
        or len(evidence.documents.documents & context.gate_documents) > MOST_DOCUMENTS
    )


def fact_value(facts: Mapping[str, Any], name: str) -> Any:
    """A fact by its name; a dot goes into a table of facts (``first_pass.ptext``). None where there is none."""
    value: Any = facts
    for key in name.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _met(condition: Condition, heard: list[Heard], pointed: list[Heard], context: GateContext) -> bool:
    if condition.all_of is not None:
        return all(_met(part, heard, pointed, context) for part in condition.all_of)
    if condition.any_of is not None:
        return any(_met(part, heard, pointed, context) for part in condition.any_of)
    if condition.mentions is not None:
        return all(_mentioned(group, heard) for group in condition.mentions)
    evidence = [message.evidence for message in pointed]
    if condition.cites_number is not None:
        return any(_cites_number(condition.cites_number, message, context) for message in evidence)
    if condition.cites_record is not None:
        return any(_cites_record(condition.cites_record, message, context) for message in evidence)
    assert condition.cites_document is not None  # noqa: S101 - the model allows exactly these kinds
    return _cites_document(condition.cites_document, evidence, context)


def _mentioned(group: list[str], heard: list[Heard]) -> bool:
    return any(compiled(term).found_in(spoken) for message in heard for spoken in message.about for term in group)


def _cites_number(wanted: CitesNumber, message: Evidence, context: GateContext) -> bool:
    value = float(fact_value(context.facts, wanted.fact))
    for number in message.numbers:
        if number.means(
            value, wanted.tolerance, wanted.unit, unit_required=wanted.unit_required, signed=wanted.signed
        ) and (not wanted.near or _near(wanted.near, message.clause_around(number))):
            return True
    return False


def _near(terms: list[str], clause: str) -> bool:
    spoken = SpokenText.of(clause)
    return any(compiled(term).found_in(spoken) for term in terms)


def _cites_record(wanted: CitesRecord, message: Evidence, context: GateContext) -> bool:
    group = context.record_groups[wanted.among] if wanted.among is not None else None
    return any(
        kind in wanted.kinds and (group is None or record in group.get(kind, ())) for kind, record in message.records()
    )


def _cites_document(wanted: CitesDocument, messages: list[Evidence], context: GateContext) -> bool:
    clauses = set(wanted.clauses or context.document_clauses.get(wanted.document, ()))
    named = any(wanted.document in message.documents.named for message in messages)
    cited = {
        clause for message in messages for document, clause in message.documents.clauses if document == wanted.document
    }
    if named:  # named once, a clause of it given later is its clause
        cited |= {clause for message in messages for clause in message.documents.loose}
    if wanted.clause_required:
        return bool(cited & clauses)
    return named or bool(cited & clauses)


def _name(condition: Condition) -> str:
    """A condition in a word or two, for the log."""
    if condition.cites_number is not None:
        return f"cites_number {condition.cites_number.fact}"
    if condition.cites_record is not None:
        return f"cites_record {'/'.join(condition.cites_record.kinds)}"
    if condition.cites_document is not None:
        return f"cites_document {condition.cites_document.document}"
    if condition.mentions is not None:
        return f"mentions {condition.mentions[0][0]}"
    parts = condition.all_of or condition.any_of or []
    return f"{'all_of' if condition.all_of else 'any_of'}({', '.join(_name(part) for part in parts)})"
