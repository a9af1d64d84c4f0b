"""Asking for an audit, and doing to a log what somebody with the database could do."""

from __future__ import annotations

import json
from io import StringIO

from django.core.management import call_command

from fdegym.runs import log
from fdegym.runs.models import Run, RunEvent


def audit(run: Run, *options: str) -> tuple[int, str]:
    """Status and words of the command."""
    said = StringIO()
    try:
        call_command("audit", str(run.id), *options, stdout=said)
    except SystemExit as ended:
        return int(str(ended.code)), said.getvalue()
    return 0, said.getvalue()


def not_so(run: Run) -> tuple[str, str]:
    """Which check found something, and its words."""
    status, words = audit(run, "--json")
    assert status == 1, words
    *before, last = json.loads(words)["checks"]
    assert last["result"] == "not so"
    assert all(check["result"] != "not so" for check in before)
    return last["check"], last["words"]


def rechained(run: Run) -> None:
    """What somebody with the database, and without the key, would do after an edit: compute the chain anew."""
    previous = log.genesis(run.id, run.release)
    for event in RunEvent.objects.filter(run=run).order_by("seq"):
        event.hash = log.link(previous, event.seq, event.kind, event.payload, event.at)
        event.save()
        previous = event.hash


def event_of(run: Run, kind: str) -> RunEvent:
    event = RunEvent.objects.filter(run=run, kind=kind).order_by("seq").first()
    assert event is not None
    return event
