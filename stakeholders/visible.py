"""What a person or agent in the run may see of its conversations: the words and the customer's time, nothing else.

Never here: charges, topics, scores, kinds of answers, patience, who is off limits. The command, the chat and the feed
all show exactly this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stakeholders.calendar import words_for
from stakeholders.script import Script
from stakeholders.state import (
    INBOX,
    INBOX_READ,
    MESSAGE,
    TRIAL_REPORTED,
    TRIAL_REQUESTED,
    WAIT,
    LoggedEvent,
    State,
    moment,
)

Item = dict[str, Any]


def clock_words(text: str | None) -> str | None:
    """A logged moment of the customer's clock in words, None without a calendar."""
    at = moment(text)
    return words_for(at) if at else None


def shown_reply(script: Script, payload: Mapping[str, Any]) -> Item:
    """What comes back for a message: ``answer`` is None where nobody replied, ``automatic`` marks an automatic reply."""
    return {
        "id": payload["client_id"],
        "person": payload["person"],
        "name": _name(script, payload["person"]),
        "text": payload["text"],
        "answer": payload["answer"],
        "automatic": payload["kind"] == "automatic",
        "sent": clock_words(payload["before"]),
        "answered": clock_words(payload["after"]),
    }


def shown_wait(payload: Mapping[str, Any]) -> Item:
    return {
        "id": payload["client_id"],
        "sent": clock_words(payload["before"]),
        "answered": clock_words(payload["after"]),
    }


def shown_trial(requested: Mapping[str, Any], report: Mapping[str, Any] | None) -> Item:
    """A trial run: ``running``, or what people noticed, a sentence each (``said``) or our own ``words``."""
    return {
        "id": requested["client_id"],
        "running": report is None,
        "said": [said["text"] for said in report["said"]] if report else [],
        "words": report["words"] if report else "",
        "sent": clock_words(requested["at"]),
    }


def shown_letter(script: Script, letter: Mapping[str, Any], number: int, *, read: bool) -> Item:
    """A message that came unasked, the ``number``-th of the run; its text is there once it was read.

    The author's name for it stays inside: it may tell what it follows from.
    """
    return {
        "id": f"letter-{number}",
        "person": letter["sender"],
        "name": _name(script, letter["sender"]),
        "text": letter["text"] if read else None,
        "read": read,
        "sent": clock_words(letter["at"]),
    }


def shown_directory(script: Script) -> list[Item]:
    """The directory: id, name, role and persona of everybody, in the customer's order."""
    return [
        {"id": person.id, "name": person.name, "role": person.role, "persona": person.persona}
        for person in script.people.values()
    ]


def shown_clock(script: Script, state: State) -> Item | None:
    """The customer's clock: ``now`` in ISO 8601 (local, without offset), in words, and its offset from UTC in minutes."""
    if script.calendar is None or state.now is None:
        return None
    return {
        "now": state.now.isoformat(timespec="minutes"),
        "words": words_for(state.now),
        "utc_offset_minutes": script.calendar.config.utc_offset_minutes,
    }


def shown_items(script: Script, events: Iterable[LoggedEvent], after: int = 0) -> list[Item]:
    """The conversation in the order of the log, each item with ``seq`` and ``kind``: message, wait, letter or trial.

    ``events`` are all events of the run from its first; items with a number up to ``after`` are left out. A letter that
    is read, and a trial that is reported, appears a second time under the same id, then with its text.
    """
    letters: dict[str, tuple[Mapping[str, Any], int]] = {}
    trials: dict[str, Mapping[str, Any]] = {}
    items: list[Item] = []
    for event in events:
        payload = event.payload
        if event.kind == MESSAGE:
            item = {"kind": "message"} | shown_reply(script, payload)
        elif event.kind == WAIT:
            item = {"kind": "wait"} | shown_wait(payload)
        elif event.kind == INBOX:
            letters[payload["id"]] = payload, len(letters) + 1
            item = {"kind": "letter"} | shown_letter(script, *letters[payload["id"]], read=False)
        elif event.kind == INBOX_READ:
            item = {"kind": "letter"} | shown_letter(script, *letters[payload["id"]], read=True)
        elif event.kind == TRIAL_REQUESTED:
            trials[payload["client_id"]] = payload
            item = {"kind": "trial"} | shown_trial(payload, None)
        elif event.kind == TRIAL_REPORTED:
            item = {"kind": "trial"} | shown_trial(trials[payload["client_id"]], payload)
        else:
            continue
        if event.seq > after:
            items.append(item | {"seq": event.seq})
    return items


def _name(script: Script, person_id: str) -> str:
    person = script.people.get(person_id)
    return person.name if person else person_id
