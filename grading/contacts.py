"""What the conversation came to: C, the facts and approvals released, and by whom. A fold of ``contact.*`` events, and of
those that report a trial run.

Grading knows the conversation only through the run's log; it imports nothing of the engine that held it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from fdegym.runs import log
from fdegym.runs.models import Run, RunState

PREFIX, TRIAL = "contact.", "trial.reported"


@dataclass(frozen=True, slots=True)
class Conversation:
    """``cost`` is C in units of U. ``facts`` and ``grants`` are in the order of their first release.

    A contact is a message that was answered: automatic replies and messages not understood are none.
    """

    cost: Decimal
    facts: tuple[str, ...]
    grants: tuple[str, ...]
    incidents: Mapping[str, int]
    contacts_by_person: Mapping[str, int]
    cost_by_person: Mapping[str, Decimal]
    cost_of_waiting: Decimal
    trials: int = 0  #: those that were reported and charged
    cost_of_trials: Decimal = Decimal(0)


def fold_contacts(events: Iterable[tuple[str, Mapping[str, Any]]]) -> Conversation:
    """Fold (kind, payload) pairs in the log's order. Kinds other than ``contact.*`` and ``trial.reported`` are skipped."""
    cost, waiting, trying, trials = Decimal(0), Decimal(0), Decimal(0), 0
    facts: dict[str, None] = {}
    grants: dict[str, None] = {}
    incidents: Counter[str] = Counter()
    contacts: Counter[str] = Counter()
    cost_by_person: dict[str, Decimal] = {}
    for kind, payload in events:
        if kind != TRIAL and not kind.startswith(PREFIX):
            continue
        charge = Decimal(str(payload.get("charge") or "0"))
        cost += charge
        if kind == TRIAL:
            trying += charge
            trials += bool(payload.get("counted"))
            continue
        facts.update(dict.fromkeys(payload.get("facts") or ()))
        grants.update(dict.fromkeys(payload.get("grants") or ()))
        if incident := payload.get("incident"):
            incidents[incident] += 1
        person = payload.get("person")
        if person and kind == "contact.message":
            contacts[person] += 1 if payload.get("counted", True) or charge else 0
            cost_by_person[person] = cost_by_person.get(person, Decimal(0)) + charge
        elif not person:
            waiting += charge
    return Conversation(
        cost=cost,
        facts=tuple(facts),
        grants=tuple(grants),
        incidents=dict(incidents),
        contacts_by_person=dict(contacts),
        cost_by_person=cost_by_person,
        cost_of_waiting=waiting,
        trials=trials,
        cost_of_trials=trying,
    )


def conversation_of(run: Run) -> Conversation:
    """The conversation as of the run's submission; of an open run, as of now."""
    moves = log.events(run.id, kinds=["run.state"])
    ended = next((event.seq for event in moves if event.payload.get("to") == RunState.SUBMITTED), None)
    events = log.events(run.id, kinds=[PREFIX, TRIAL])
    return fold_contacts((event.kind, event.payload) for event in events if ended is None or event.seq < ended)
