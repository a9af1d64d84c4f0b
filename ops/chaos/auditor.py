"""The auditor: compares what people saw with what is stored, and names every difference. Pure.

Nothing may be lost and nothing may have happened twice. Each rule is one function; ``tests/chaos/test_auditor.py`` shows
of each that it is not silent.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ops.chaos import terminals
from ops.chaos.account import PersonAccount, RunAccount
from ops.chaos.stored import Stored, StoredRun

#: State of a run → where it may go. ``preparing`` is where every run begins.
MOVES: Mapping[str, tuple[str, ...]] = {
    "preparing": ("open", "failed"),
    "open": ("submitted",),
    "submitted": ("graded", "void"),
    "void": ("graded",),
    "graded": (),
    "failed": (),
}
CONTACTS = {"contact.message": "message", "contact.wait": "wait"}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it must be. ``about``: the rule's subject, a word that reports are counted by."""

    about: str
    run: str
    words: str


@dataclass(slots=True)
class Audited:
    """What was found, and how much was looked at: an auditor that looked at nothing finds nothing."""

    findings: list[Finding] = field(default_factory=list)
    looked_at: Counter[str] = field(default_factory=Counter)

    def add(self, about: str, run: str, problems: Iterator[str]) -> None:
        self.findings += [Finding(about, run, words) for words in problems]


def audit(accounts: Sequence[PersonAccount], stored: Stored, full_disk: Sequence[tuple[float, float]] = ()) -> Audited:
    """Compare. ``full_disk``: (from, to) of the times in which the product could write nothing."""
    told = Audited()
    for person in accounts:
        told.add("runs", person.name, _runs(person, stored))
        for run_id, account in person.runs.items():
            run = stored.runs.get(run_id)
            if run is None:
                continue  # told by _runs
            kept = run.terminals.get(1)
            told.add("terminal", run_id, terminals.differences(account.terminal, kept, full_disk))
            told.add("messages", run_id, _messages(account, run))
            told.add("feed", run_id, _feed(account, run))
            told.add("charges", run_id, _charges(run))
            told.add("files", run_id, _files(account, run))
            told.add("submissions", run_id, _submissions(account, run))
            told.add("ends", run_id, _end(account, run))
            told.add("grades", run_id, _grades(account, run))
            told.looked_at.update(_amounts(account, run))
    for run_id, run in stored.runs.items():
        told.add("states", run_id, _states(run))
        told.add("chain", run_id, _chain(run))
        told.add("audit", run_id, iter(run.objections))
    told.add("orphans", "", iter(stored.orphans))
    told.looked_at["people"] = len(accounts)
    return told


def _amounts(account: RunAccount, run: StoredRun) -> dict[str, int]:
    return {
        "runs": 1,
        "terminal bytes": sum(len(span.data) for span in account.terminal.spans),
        "lines typed": len(account.terminal.typed),
        "messages and waits": len(account.sent),
        "items of feeds": len(account.feed),
        "files saved": len(account.saves),
        "events of logs": len(run.events),
        "submissions": len(run.submissions),
        "grades": len(run.grades),
    }


def _runs(person: PersonAccount, stored: Stored) -> Iterator[str]:
    kept = {run.id for run in stored.runs.values() if run.owner == person.name}
    for run_id in set(person.runs) - kept:
        yield f"the run {run_id} was begun and is not stored"
    for run_id in kept - set(person.runs):
        yield f"the run {run_id} is stored and was never begun"


# ---- people ----------------------------------------------------------------------------------------------------------


def _contacts(run: StoredRun) -> dict[str, list[dict[str, Any]]]:
    """Client id → its messages and waits in the log."""
    found: dict[str, list[dict[str, Any]]] = {}
    for event in run.events:
        if event["kind"] in CONTACTS:
            found.setdefault(event["payload"]["client_id"], []).append(event)
    return found


def _messages(account: RunAccount, run: StoredRun) -> Iterator[str]:
    logged = _contacts(run)
    for client_id, sent in account.sent.items():
        events = logged.get(client_id, [])
        if len(events) > 1:
            yield f"{sent.kind} {client_id} happened {len(events)} times"
        if not events:
            if sent.reply is not None:
                yield f"{sent.kind} {client_id} was answered and is not in the log"
            continue
        kind, payload = CONTACTS[events[0]["kind"]], events[0]["payload"]
        if kind != sent.kind or payload.get("text", payload.get("target")) != sent.text:
            yield f"{sent.kind} {client_id} is in the log as something else: {payload}"
        elif kind == "message" and payload["person"] != sent.person:
            yield f"message {client_id} went to {payload['person']} instead of {sent.person}"
        elif kind == "message" and sent.reply is not None and sent.reply["answer"] != payload["answer"]:
            yield f"message {client_id} was answered {sent.reply['answer']!r}; the log has {payload['answer']!r}"
    for client_id in set(logged) - set(account.sent):
        yield f"{client_id} is in the log and nobody sent it"


def _feed(account: RunAccount, run: StoredRun) -> Iterator[str]:
    """The feed shows what the log has, each event once, in order, up to where the client last looked."""
    numbers = [item["seq"] for item in account.feed]
    for number, times in Counter(numbers).items():
        if times > 1:
            yield f"event {number} came {times} times"
    if numbers != sorted(numbers):
        yield "events came in another order than the log's"
    logged = {event["seq"]: event for event in run.events if event["kind"] in CONTACTS}
    for number in sorted(set(logged) - set(numbers)):
        if number < max(numbers, default=0):
            yield f"event {number} never came, a later one did"
    for item in account.feed:
        if item["kind"] not in CONTACTS.values():
            continue
        event = logged.get(item["seq"])
        if event is None or event["payload"]["client_id"] != item["id"]:
            yield f"event {item['seq']} came as {item['kind']} {item['id']}, which the log does not have there"
        elif item["kind"] == "message" and event["payload"]["answer"] != item["answer"]:
            yield f"the answer to {item['id']} came as {item['answer']!r}"


def _charges(run: StoredRun) -> Iterator[str]:
    charged = sum((Decimal(event["payload"].get("charge", "0")) for event in run.events), Decimal(0))
    for grade in run.grades:
        if Decimal(grade["contact_cost"]) != charged:
            yield f"grade {grade['number']} has C = {grade['contact_cost']}, the log's charges come to {charged}"


# ---- files, submissions, grades --------------------------------------------------------------------------------------


def _files(account: RunAccount, run: StoredRun) -> Iterator[str]:
    """In the sealed system lies the last save that was confirmed, or a later one that got no answer."""
    if not run.submissions:
        return
    confirmed = max((save.number for save in account.saves if save.confirmed), default=0)
    tried = {save.number for save in account.saves if save.number >= confirmed} | ({0} if not confirmed else set())
    text = run.kept_file
    sealed = 0 if text is None else int(text) if re.fullmatch(r"\d+", text) else -1
    if sealed not in tried:
        yield f"save {confirmed} was confirmed; sealed is {text!r}"


def _submissions(account: RunAccount, run: StoredRun) -> Iterator[str]:
    count = len(run.submissions)
    if count > 1:
        yield f"there are {count} submissions"
    if account.submit_answers and not count:
        yield "it was handed in, and there is no submission"
    if count and not account.submit_tries and any(each["cause"] == "person" for each in run.submissions):
        yield "there is a submission, and nobody handed it in"
    if len(set(account.submit_answers)) > 1:
        yield f"handing in led to different places: {sorted(set(account.submit_answers))}"
    for kind, payload in (("run.frozen", {}), ("run.state", {"to": "submitted"})):
        logged = [e for e in run.events if e["kind"] == kind and payload.items() <= e["payload"].items()]
        if len(logged) != count:
            yield f"the log has {kind} {len(logged)} times for {count} submissions"


def _end(account: RunAccount, run: StoredRun) -> Iterator[str]:
    """Everybody hands in before leaving and waits for the grade: a run that is still going on kept its person from it."""
    if run.state in ("preparing", "open", "submitted"):
        tried = f"handing in was tried {account.submit_tries} times, answered {len(account.submit_answers)} times"
        yield f"everybody has left, and the run is still {run.state}; {tried}"


def _grades(account: RunAccount, run: StoredRun) -> Iterator[str]:
    logged = [event["payload"] for event in run.events if event["kind"] == "grade.added"]
    added, stored = ([(row["number"], Decimal(row["score"])) for row in rows] for rows in (logged, run.grades))
    if added != stored:
        yield f"the grades are {stored}, the log has added {added}"
    for submission in run.submissions:
        graded = [grade for grade in run.grades if grade["submission"] == submission["id"]]
        if len(graded) > 1:
            yield f"there are {len(graded)} grades"
        if not graded:
            yield f"there is no grade; the submission is {submission['state']}"
    if account.export is not None:
        told = str(account.export["grade"]["score"])
        if not run.grades or Decimal(told) != Decimal(run.grades[0]["score"]):
            yield f"the debrief said S = {told}, stored is {[grade['score'] for grade in run.grades]}"
        heads = [event["hash"] for event in run.events]
        if [event["hash"] for event in account.export["log"]] != heads[: len(account.export["log"])]:
            yield "the log that was taken along is not the beginning of the one that is stored"


# ---- the log ---------------------------------------------------------------------------------------------------------


def _states(run: StoredRun) -> Iterator[str]:
    state = "preparing"
    for event in run.events:
        if event["kind"] == "run.state":
            to = event["payload"]["to"]
            if to not in MOVES.get(state, ()):
                yield f"event {event['seq']} takes the run from {state} to {to}"
            state = to
    if state != run.state:
        yield f"the run is {run.state}, its log ends with {state}"
    for submission in run.submissions:
        if (run.state in ("graded", "void")) != (submission["state"] == run.state):
            yield f"the run is {run.state}, its submission {submission['state']}"


def _chain(run: StoredRun) -> Iterator[str]:
    link = hashlib.sha256(f"fdegym run log 1\n{run.id}\n{run.release}".encode()).hexdigest()
    for number, event in enumerate(run.events, start=1):
        body = {key: event[key] for key in ("seq", "kind", "payload", "at")}
        text = json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        link = hashlib.sha256((link + text).encode()).hexdigest()
        if event["seq"] != number or event["hash"] != link:
            yield f"event {event['seq']} does not follow from the one before"
            return
