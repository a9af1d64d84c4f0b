"""Trial runs, as the customer sees them: who may have one now, what it costs and what is told of it. Pure.

The desk logs that one was asked for; whoever ran it logs what came of it. The k-th trial that was reported costs the k-th
price; one that came to nothing through a fault of ours costs nothing and is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from fdegym.lib.errors import FdegymError
from scenarios.kit.trial import Said
from stakeholders.script import Script
from stakeholders.state import State

NO_TRIAL = "There is no trial environment here."
WITHDRAWN = "The work was handed in before the trial was over; it was not finished."


class TrialRefused(FdegymError):
    """No trial can be asked for now; its text says why. Nothing was charged."""

    http_status = 409


class TrialOutcome(StrEnum):
    """How a trial ended. Only the first two are charged and counted."""

    REPORTED = "reported"
    DID_NOT_RUN = "did_not_run"  #: every call of the delivered system failed
    VOID = "void"  #: a failure of ours
    WITHDRAWN = "withdrawn"  #: the run was handed in before it was over


COUNTED = frozenset({TrialOutcome.REPORTED, TrialOutcome.DID_NOT_RUN})


@dataclass(frozen=True, slots=True)
class TrialResult:
    """What came of a trial. ``words`` are the engine's own, where no sentence of the scenario is said."""

    outcome: TrialOutcome
    said: Sequence[Said] = ()
    words: str = ""
    system: str = ""  #: SHA-256 of what was tried
    calls: int = 0
    failures: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  #: entry point → ``calls``, ``failed``


def ask_for_trial(script: Script, state: State, client_id: str) -> dict[str, Any]:
    """The payload of the ``trial.requested`` event. Raises ``TrialRefused``."""
    if script.trial is None:
        raise TrialRefused(NO_TRIAL)
    if state.trial_pending is not None:
        raise TrialRefused(
            "A trial is being run already. Its report comes with the conversation; ask for one at a time."
        )
    if state.trials >= len(script.trial.prices):
        raise TrialRefused("There is no trial left: the customer has run your system as often as they can.")
    return {"client_id": client_id, "number": state.trials + 1, "at": _iso(state.now)}


def report_trial(script: Script, state: State, client_id: str, result: TrialResult) -> dict[str, Any]:
    """The payload of the ``trial.reported`` event. Raises ``TrialRefused`` for a trial that nobody waits for."""
    if script.trial is None or state.trial_pending != client_id:
        raise TrialRefused("Nobody waits for that trial.")
    counted = result.outcome in COUNTED
    charge = script.trial.prices[state.trials] if counted else Decimal(0)
    return {
        "client_id": client_id,
        "outcome": str(result.outcome),
        "said": [{"id": said.id, "text": said.text} for said in result.said],
        "words": result.words,
        "system": result.system,
        "calls": result.calls,
        "failures": {name: dict(row) for name, row in result.failures.items()},
        "charge": format(charge.normalize() if charge else Decimal(0), "f"),
        "counted": counted,
        "at": _iso(state.now),
    }


def result_of(payload: Mapping[str, Any]) -> TrialResult:
    """What a ``trial.reported`` event says came of it: whatever decides it again starts from there."""
    said = tuple(Said(row["id"], row["text"]) for row in payload["said"])
    outcome = TrialOutcome(payload["outcome"])
    return TrialResult(outcome, said, payload["words"], payload["system"], payload["calls"], payload["failures"])


def unsayable(script: Script, result: TrialResult) -> str:
    """What of a result the scenario has no words for, or "" where all of it is its own."""
    if script.trial is None:
        return "the customer has no trial environment"
    told = [said for said in result.said if not script.trial.words.could_say(said.id, said.text)]
    if told:
        return f"the scenario has no such sentence: {told[0].text!r}"
    wanted = result.outcome == TrialOutcome.REPORTED
    return "" if bool(result.said) == wanted else "what was told does not fit how the trial ended"


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat(timespec="minutes") if moment else None
