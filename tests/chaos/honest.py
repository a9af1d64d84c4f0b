"""An account and what is stored of it, which agree: alice worked in one run, and everything came through."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from fdegym.runs import log
from ops.chaos.account import PersonAccount, RunAccount, Saved, Sent, TerminalAccount, Typed
from ops.chaos.stored import Stored, StoredRun, StoredTerminal

RUN = "0b9a1a52-8a4e-4c5e-9d6b-3f3c1f6f0a11"
RELEASE = "5" * 64
BEGAN = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
OUTPUT = (
    b"$ \r\n" + b"".join(b"<c1 %d 1700000000.%03d>\r\n" % (number, number) for number in range(40)) + b"<got t7>\r\n"
)

EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("run.begun", {"level": "L3", "attempt": 1}),
    ("run.prepared", {"release": RELEASE}),
    ("run.state", {"to": "open", "reason": ""}),
    (
        "contact.message",
        {"client_id": "m-1", "person": "jory", "text": "Good morning?", "answer": "I know flour.", "charge": "0.006"},
    ),
    ("contact.wait", {"client_id": "m-2", "target": "1h", "charge": "0.001"}),
    (
        "contact.message",
        {"client_id": "m-3", "person": "merryn", "text": "And now?", "answer": None, "charge": "0"},
    ),
    ("run.frozen", {"sha256": "f" * 64, "files": 3}),
    ("run.state", {"to": "submitted", "reason": "person"}),
    ("grade.added", {"number": 1, "score": "0.993000"}),
    ("run.state", {"to": "graded", "reason": ""}),
]


def chained(kinds: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Events with the chain that the product itself would give them."""
    link, events = log.genesis(RUN, RELEASE), []
    for seq, (kind, payload) in enumerate(kinds, start=1):
        at = BEGAN + timedelta(seconds=seq)
        link = log.link(link, seq, kind, payload, at)
        events.append({"seq": seq, "kind": kind, "payload": payload, "at": log.instant(at), "hash": link})
    return events


def rechain(run: StoredRun, change: Any) -> None:
    """Change the log's events as ``change`` does with their list, with a chain that fits again."""
    kinds = [(event["kind"], dict(event["payload"])) for event in run.events]
    change(kinds)
    run.events = chained(kinds)


def honest() -> tuple[PersonAccount, Stored]:
    terminal = TerminalAccount()
    terminal.joined(0)
    terminal.got(OUTPUT[:500])
    terminal.joined(500)
    terminal.got(OUTPUT[500:])
    terminal.typed = [Typed("t7", 1, 1700000000.0, answered=True), Typed("t8", 1, 1700000001.0)]
    events = chained(EVENTS)
    account = RunAccount(
        id=RUN,
        terminal=terminal,
        sent={
            "m-1": Sent("message", "jory", "Good morning?", 2, {"answer": "I know flour."}),
            "m-2": Sent("wait", "", "1h", 1, {"id": "m-2"}),
            "m-3": Sent("message", "merryn", "And now?", 1),
        },
        feed=[
            {"seq": 4, "kind": "message", "id": "m-1", "answer": "I know flour."},
            {"seq": 5, "kind": "wait", "id": "m-2"},
            {"seq": 6, "kind": "message", "id": "m-3", "answer": None},
        ],
        saves=[Saved(1, confirmed=True), Saved(2, confirmed=True), Saved(3)],
        submit_tries=2,
        submit_answers=[f"/runs/{RUN}/grading/"],
        export={"grade": {"score": "0.993000"}, "log": [{"hash": event["hash"]} for event in events]},
    )
    kept = StoredTerminal(pieces=[(0, OUTPUT[:300]), (300, OUTPUT[300:])], typed=b"stty -echo\nt7\n")
    run = StoredRun(
        id=RUN,
        owner="alice",
        state="graded",
        release=RELEASE,
        events=events,
        submissions=[{"id": 1, "state": "graded", "cause": "person"}],
        grades=[{"submission": 1, "number": 1, "score": "0.993000", "contact_cost": "0.007000"}],
        terminals={1: kept},
        kept_file="3",
    )
    return PersonAccount("alice", {RUN: account}), Stored({RUN: run})
