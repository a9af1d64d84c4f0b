"""What the product has stored, as plain values: read once, after everything has come to rest, and then only compared."""

from __future__ import annotations

import base64
import dataclasses
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class StoredTerminal:
    """A terminal's record: the numbered output that it holds, the gaps it notes, and what was typed."""

    pieces: list[tuple[int, bytes]] = field(default_factory=list)
    gaps: list[tuple[int, int, str | None]] = field(default_factory=list)  #: (begins at, bytes, SHA-256 if known)
    typed: bytes = b""

    @property
    def end(self) -> int:
        ends = [start + len(data) for start, data in self.pieces] + [start + count for start, count, _ in self.gaps]
        return max(ends, default=0)


@dataclass
class StoredRun:
    """Rows that belong to one run. ``events``: ``{seq, kind, payload, at, hash}``, times as they are hashed."""

    id: str
    owner: str
    state: str
    release: str
    events: list[dict[str, Any]] = field(default_factory=list)
    submissions: list[dict[str, Any]] = field(default_factory=list)  #: ``{id, state, cause}``
    grades: list[dict[str, Any]] = field(default_factory=list)  #: ``{submission, number, score, contact_cost}``
    terminals: dict[int, StoredTerminal] = field(default_factory=dict)
    kept_file: str | None = None  #: the file that the person kept saving, as it lies in the sealed system
    objections: list[str] = field(default_factory=list)  #: what the product's own audit found not to be so


@dataclass
class Stored:
    """Everything. ``orphans``: what belonged to nobody for more than a minute."""

    runs: dict[str, StoredRun] = field(default_factory=dict)
    orphans: list[str] = field(default_factory=list)


def record_of(path: Path) -> StoredTerminal:
    """A terminal's record file, taken apart."""
    from workspaces.terminal.record import Kind, entries

    found, seq = StoredTerminal(), 0
    for _, kind, content, _ in entries(path):
        if kind is Kind.OUTPUT:
            found.pieces.append((seq, content))
            seq += len(content)
        elif kind is Kind.GAP:
            gap = json.loads(content)
            found.gaps.append((seq, int(gap["bytes"]), gap["sha256"]))
            seq += int(gap["bytes"])
        elif kind is Kind.INPUT:
            found.typed += content
    return found


def dump(target: str, kept_file: str) -> None:
    """Write everything to a file, for ``load``: run where Django is set up, as the user of the product."""
    from django.conf import settings

    from fdegym.delivery.audit import Result, audit_run
    from fdegym.runs.log import instant
    from fdegym.runs.models import Run, RunEvent
    from grading.models import Grade, Submission

    stored = Stored()
    for run in Run.objects.select_related("user").order_by("begun_at"):
        row = StoredRun(str(run.id), run.user.username if run.user else "", run.state, run.release)
        row.events = [
            {"seq": each.seq, "kind": each.kind, "payload": each.payload, "at": instant(each.at), "hash": each.hash}
            for each in RunEvent.objects.filter(run=run).order_by("seq")
        ]
        for submission in Submission.objects.filter(run=run):
            row.submissions.append({"id": submission.pk, "state": submission.state, "cause": submission.cause})
            row.kept_file = sealed_file(submission.sealed, kept_file)
        row.grades = [
            {
                "submission": grade.submission_id,
                "number": grade.number,
                "score": str(grade.score),
                "contact_cost": str(grade.contact_cost),
            }
            for grade in Grade.objects.filter(submission__run=run).order_by("number", "pk")
        ]
        for path in sorted((settings.SANDBOX_DIR / "_records" / str(run.id)).glob("terminal-*.record")):
            row.terminals[int(path.stem.partition("-")[2])] = record_of(path)
        findings = audit_run(run.id).findings
        row.objections = [f"{each.check}: {each.words}" for each in findings if each.result == Result.NOT_SO]
        stored.runs[row.id] = row
    Path(target).write_text(json.dumps(dataclasses.asdict(stored), default=_in_text))


def sealed_file(sealed: Path, name: str) -> str | None:
    """A text file of a frozen system; None where it has none of that name."""
    import tarfile

    with tarfile.open(sealed) as archive:
        for member in archive:
            if member.name.removeprefix("./") == name and (stream := archive.extractfile(member)) is not None:
                return stream.read().decode()
    return None


def _in_text(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"no JSON for {value!r}")


def load(source: Path) -> Stored:
    """What ``dump`` wrote."""
    stored = Stored()
    for run_id, row in json.loads(source.read_text())["runs"].items():
        terminals = {
            int(number): StoredTerminal(
                pieces=[(start, base64.b64decode(data)) for start, data in kept["pieces"]],
                gaps=[(start, count, digest) for start, count, digest in kept["gaps"]],
                typed=base64.b64decode(kept["typed"]),
            )
            for number, kept in row.pop("terminals").items()
        }
        stored.runs[run_id] = StoredRun(**row, terminals=terminals)
    return stored


if __name__ == "__main__":
    import django

    django.setup()
    dump(*sys.argv[1:3])
