"""From a replay and a conversation to what a grade says. Pure: the same inputs give the same row.

What the replay reports is a candidate where ``scenario.toml`` names an approval that would have permitted it: the
replay does not know the run's approvals, they are held against it here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from grading.anchors import TaskAnchors
from grading.contacts import Conversation
from grading.replay import GradedReplay
from grading.score import Score, score_run
from scenarios.kit.format import FactText, Incident


@dataclass(frozen=True, slots=True)
class Verdict:
    """``incidents`` count; ``permitted`` would have, without the approval that each names. Rows as in ``Grade``."""

    score: Score
    incidents: tuple[Mapping[str, Any], ...]
    permitted: tuple[Mapping[str, Any], ...]


def _row(incident_id: str, known: Mapping[str, Incident], *, detail: str, count: int, source: str) -> dict[str, Any]:
    incident = known.get(incident_id)
    return {
        "id": incident_id,
        "title": incident.title if incident else incident_id,
        "meaning": incident.meaning if incident else "",
        "detail": detail,
        "count": count,
        "source": source,
    }


def judge(
    replay: GradedReplay, conversation: Conversation, anchors: TaskAnchors, incidents: Mapping[str, Incident]
) -> Verdict:
    """Score and incidents of one run. Raises ``AnchorsUnusable``."""
    candidates = [
        _row(found.id, incidents, detail=found.detail, count=found.count, source="replay") for found in replay.incidents
    ]
    candidates += [
        _row(incident_id, incidents, detail="", count=count, source="contact")
        for incident_id, count in sorted(conversation.incidents.items())
    ]
    counted, permitted = [], []
    for row in candidates:
        incident = incidents.get(row["id"])
        grant = incident.unless_granted if incident else None
        if grant is not None and grant in conversation.grants:
            permitted.append({**row, "granted": grant})
        else:
            counted.append(row)
    score = score_run(anchors.uplift_of(replay.kpi), contact_cost=conversation.cost, incident=bool(counted))
    return Verdict(score, tuple(counted), tuple(permitted))


def key_fact_rows(
    key_facts: Sequence[str], texts: Mapping[str, FactText], conversation: Conversation
) -> list[dict[str, Any]]:
    """The task's key facts and whether a person told each; what documents also show is said, never "missed"."""
    released = set(conversation.facts)
    return [
        {
            "id": key,
            "title": texts[key].title,
            "text": texts[key].text,
            "released": key in released,
            "visible_in": list(texts[key].visible_in),
        }
        for key in key_facts
    ]


def contact_row(conversation: Conversation) -> dict[str, Any]:
    """The conversation as a grade keeps it; amounts as decimal strings."""
    trials = {"count": conversation.trials, "cost": str(conversation.cost_of_trials)}
    return {
        "people": {
            person: {"contacts": count, "cost": str(conversation.cost_by_person.get(person, 0))}
            for person, count in conversation.contacts_by_person.items()
        },
        "waiting": str(conversation.cost_of_waiting),
        "grants": list(conversation.grants),
        "facts": list(conversation.facts),
    } | ({"trials": trials} if conversation.trials else {})


def replay_row(replay: GradedReplay) -> dict[str, Any]:
    """What the replay took and what failed in it."""
    row = asdict(replay)
    return {key: row[key] for key in ("cpu_s", "wall_s", "calls", "failures")}


def figures(replay: GradedReplay, verdict: Verdict) -> dict[str, Any]:
    """What a regrade is compared by: everything that a delivery decides, without times."""
    return {
        "kpi": replay.kpi,
        "incidents": sorted([row["id"], row["count"]] for row in (*verdict.incidents, *verdict.permitted)),
        "score": str(verdict.score.score),
    }
