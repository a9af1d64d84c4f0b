"""What the rest of the site may ask of the customer's people.

Acts go to the desk (``DeskSilent``, a ``ServiceUnavailable``, if it does not answer; what it refuses comes as the
exception it names). Readings are folds of the run's log and need no desk. Whether somebody may see a run is settled by
the caller (``fdegym.runs.access``). The first group returns only what a person in the run may see; the second is for
the debrief, grading and operators.
"""

from __future__ import annotations

import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings

from fdegym.runs import log
from stakeholders.client import DeskClient
from stakeholders.protocol import SITE_SOCKET_NAME
from stakeholders.scripts import get_run, script_of
from stakeholders.state import INBOX_READ, MESSAGE, TRIAL_REPORTED, WAIT, State, fold
from stakeholders.trials import TrialRefused
from stakeholders.visible import Item, shown_clock, shown_directory, shown_items

RunId = uuid.UUID | str
_ROWS = {MESSAGE: "message", WAIT: "wait", INBOX_READ: "letter", TRIAL_REPORTED: "trial"}


def _desk() -> DeskClient:
    return DeskClient(Path(settings.DESK_DIR) / SITE_SOCKET_NAME)


# ---- for the person or agent in the run


def send_message(run_id: RunId, person: str, text: str, client_id: str) -> dict[str, Any]:
    """Say something to a person and wait for what comes back.

    ``client_id`` is made by the caller, once per message: sending the same again gives the same reply. Returns the
    message (``id, person, name, text, answer`` — None where nobody replied — ``automatic, sent, answered``) with
    ``unread`` (letters) and ``clock`` beside it. Raises ``MessageRefused``, ``PersonUnknown``, ``RunStateConflict``.
    """
    answer = _desk().ask("say", run_id, id=client_id, person=person, text=text)
    return {**answer["reply"], "unread": answer["unread"], "clock": answer["clock"]}


def wait(run_id: RunId, until: str, client_id: str) -> dict[str, Any]:
    """Let the customer's time pass: ``until`` is ``3h``, ``2d`` or ``Tue 09:30``. Raises ``WaitRefused``."""
    answer = _desk().ask("wait", run_id, id=client_id, until=until)
    return {**answer["wait"], "unread": answer["unread"], "clock": answer["clock"]}


def ask_trial(run_id: RunId, client_id: str) -> dict[str, Any]:
    """Have the workspace's system tried; the same id again says how that stands.

    Returns the trial (``id, running, said, words, sent``). Raises ``TrialRefused``, also where there is no trial
    environment.
    """
    answer = _desk().ask("trial", run_id, id=client_id)
    if "trial" not in answer:
        raise TrialRefused(answer["words"])
    trial: dict[str, Any] = answer["trial"]
    return trial


def trials_left(run_id: RunId) -> int | None:
    """How many trials can still be asked for; None for a customer without a trial environment."""
    script = script_of(get_run(run_id))
    return None if script.trial is None else len(script.trial.prices) - fold(script, log.events(run_id)).trials


def read_inbox(run_id: RunId) -> list[Item]:
    """Every message that came unasked (``id, person, name, text, sent, read, new``); the new ones are read by this."""
    letters: list[Item] = _desk().ask("inbox", run_id)["letters"]
    return letters


def open_desk(run_id: RunId) -> None:
    """Have the run's directory served at once; without this it is within a quarter of a second."""
    _desk().ask("open", run_id)


def desk_answers(timeout_s: float = 2.0) -> None:
    """For health checks. Raises ``DeskSilent``."""
    DeskClient(Path(settings.DESK_DIR) / SITE_SOCKET_NAME, timeout_s).ask("ping", "")


def directory(run_id: RunId) -> list[Item]:
    """``id, name, role, persona`` of everybody in the customer's directory."""
    return shown_directory(script_of(get_run(run_id)))


def conversation(run_id: RunId, after: int = 0) -> list[Item]:
    """Messages, waits, letters and trials numbered above ``after``, in order: see ``stakeholders.visible.shown_items``."""
    return shown_items(script_of(get_run(run_id)), log.events(run_id), after)


def customer_clock(run_id: RunId) -> Item | None:
    """``now`` (local, ISO 8601), ``words`` and ``utc_offset_minutes``; None for a customer without a calendar."""
    run = get_run(run_id)
    script = script_of(run)
    return shown_clock(script, fold(script, log.events(run_id)))


# ---- for the debrief, grading and operators


def run_state(run_id: RunId) -> State:
    """The fold of the run's log: everything the engine knows."""
    return fold(script_of(get_run(run_id)), log.events(run_id))


def contact_cost(run_id: RunId) -> Decimal:
    """C: the sum of all charges, in units of U."""
    events = log.events(run_id, kinds=["contact.", TRIAL_REPORTED])
    return sum((Decimal(event.payload["charge"]) for event in events if "charge" in event.payload), Decimal(0))


def contact_rows(run_id: RunId) -> list[dict[str, Any]]:
    """Every message, wait, letter read and trial reported, in order, with its charge and what it released.

    Nothing in a row depends on when or on which machine it was made: no ids, no wall-clock times, no scores.
    """
    rows: list[dict[str, Any]] = []
    for event in log.events(run_id, kinds=[MESSAGE, WAIT, INBOX_READ, TRIAL_REPORTED]):
        payload = event.payload
        rows.append(
            {
                "what": _ROWS[event.kind],
                "person": payload.get("person") or payload.get("sender"),
                "text": payload.get("text") or payload.get("target"),
                "answer": _report(payload) if event.kind == TRIAL_REPORTED else payload.get("answer"),
                "kind": payload.get("kind") or payload.get("outcome"),
                "topics": [{"topic": part["topic"], "result": part["result"]} for part in payload.get("parts", ())],
                "facts": list(payload.get("facts", ())),
                "grants": list(payload.get("grants", ())),
                "misconceptions": list(payload.get("misconceptions", ())),
                "incident": payload.get("incident"),
                "charge": payload.get("charge", "0"),
                "counted": bool(payload.get("counted")),
                "minutes": payload.get("minutes", 0),
                "before": payload.get("before") or payload.get("at"),
                "after": payload.get("after") or payload.get("at"),
            }
        )
    return rows


def _report(payload: dict[str, Any]) -> str:
    return "\n".join(said["text"] for said in payload["said"]) or str(payload["words"])


def released_facts(run_id: RunId) -> list[str]:
    """Facts released by people or letters, in the order of their release."""
    return _in_order(run_id, "facts")


def grants(run_id: RunId) -> list[str]:
    """Approvals given, in their order."""
    return _in_order(run_id, "grants")


def contact_incidents(run_id: RunId) -> list[dict[str, Any]]:
    """Incidents that talking caused: ``id``, ``person`` and ``at``, the customer's time."""
    return [
        {"id": event.payload["incident"], "person": event.payload["person"], "at": event.payload["before"]}
        for event in log.events(run_id, kinds=[MESSAGE])
        if event.payload["incident"]
    ]


def _in_order(run_id: RunId, key: str) -> list[str]:
    events = log.events(run_id, kinds=[MESSAGE, INBOX_READ])
    return list(dict.fromkeys(item for event in events for item in event.payload.get(key, ())))
