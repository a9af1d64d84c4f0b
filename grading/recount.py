"""Counting a grade again from what it rests on: the log's contacts, the KPI and its two ends. For audits; writes nothing.

Each function returns what is not so, in words, or "" where all is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from fdegym.runs.log import canonical, storable
from grading.anchors import TaskAnchors
from grading.contacts import Conversation
from grading.models import Grade
from grading.replay import GradedReplay
from grading.score import PLACES, adjusted, score_run
from grading.verdict import contact_row, judge
from scenarios.kit.format import Incident
from scenarios.kit.world import IncidentFound

#: What a grade's event in the log has a hash of. Everything but keys, and when the row was made (the event says it).
HASHED = tuple(field for field in Grade._meta.concrete_fields if field.name not in ("id", "submission", "created_at"))
HASH_DIGITS = 32


def field_hashes(grade: Grade) -> dict[str, str]:
    """Field → 128 bits of SHA-256 over its canonical JSON: signed with its event, so that an edited row shows where."""
    return {field.name: _hash(field.to_python(getattr(grade, field.name))) for field in HASHED}


def _hash(value: Any) -> str:
    """The same before it is stored and after any database gives it back: decimals at their six places, keys as text."""
    plain = str(value.quantize(PLACES)) if isinstance(value, Decimal) else storable(value)
    return hashlib.sha256(canonical(json.loads(canonical(plain)))).hexdigest()[:HASH_DIGITS]


def edited_fields(grade: Grade, recorded: Mapping[str, str]) -> str:
    """Which fields of the row are not what the log recorded. A field that came with a later version is not compared."""
    now = field_hashes(grade)
    edited = [name for name, digest in recorded.items() if now.get(name) != digest]
    if not edited:
        return ""
    return f"{', '.join(edited)} of grade {grade.number} {'is' if len(edited) == 1 else 'are'} not what was graded"


def miscounted_contacts(grade: Grade, conversation: Conversation) -> str:
    """Whether the grade's C, people, facts and approvals are those of the log."""
    if grade.contact_cost != conversation.cost.quantize(PLACES):
        return f"C is {grade.contact_cost} in the grade, the charges in the log add up to {conversation.cost}"
    if grade.contacts != contact_row(conversation):
        return "who was asked, or what they gave, is not in the grade as it is in the log"
    released = {row["id"] for row in grade.key_facts if row["released"]}
    wrong = sorted(released ^ (set(conversation.facts) & {row["id"] for row in grade.key_facts}))
    if wrong:
        return f"{', '.join(wrong)}: told by people in the grade or in the log, not in both"
    return ""


def miscounted_score(grade: Grade) -> str:
    """Whether U, U_adj, S and "resolved" follow from the grade's KPI, its two ends, C and incidents."""
    incident = bool(grade.incidents)
    try:
        gained = TaskAnchors(grade.kpi_baseline, grade.kpi_reference).uplift_of(grade.kpi)
        score = score_run(gained, contact_cost=grade.contact_cost, incident=incident)
    except ValueError as problem:  # anchors that are equal, a KPI that is no number, a cost below nothing
        return f"no score can be made of these figures: {problem}"
    found = {
        "U": (grade.uplift, gained),
        "U_adj": (grade.uplift_adjusted, adjusted(gained, incident=incident)),
        "S": (grade.score, score.score),
        "resolved": (grade.resolved, score.resolved),
    }
    for name, (kept, right) in found.items():
        if kept != right:
            return f"{name} is {kept} in the grade, {right} by the formula"
    return ""


def misjudged_incidents(grade: Grade, conversation: Conversation, known: Mapping[str, Incident]) -> str:
    """Whether what counts as an incident, and what an approval permitted, is as the scenario's rules say."""
    found = tuple(
        IncidentFound(row["id"], row["detail"], row["count"])
        for row in (*grade.incidents, *grade.permitted)
        if row["source"] == "replay"
    )
    replay = GradedReplay(grade.kpi, found, (), "", 0.0, 0.0, 0)
    verdict = judge(replay, conversation, TaskAnchors(grade.kpi_baseline, grade.kpi_reference), known)
    for name, kept, right in (
        ("incidents", grade.incidents, verdict.incidents),
        ("permitted acts", grade.permitted, verdict.permitted),
    ):
        if sorted(row["id"] for row in kept) != sorted(row["id"] for row in right):
            listed = ", ".join(sorted(row["id"] for row in right)) or "none"
            return f"the {name} of the grade are not those of the log and the scenario's rules, which are: {listed}"
    return ""
