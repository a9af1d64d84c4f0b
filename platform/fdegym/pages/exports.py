"""What a person can take along: all runs as a table, one graded run with its log. Times are ISO 8601 with their offset."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from fdegym.lib.spreadsheets import table
from fdegym.pages.rows import RunRow
from fdegym.runs.log import events, instant, sign_head
from fdegym.runs.models import Run
from grading.models import Grade

COLUMNS = (
    "run",
    "scenario",
    "customer",
    "level",
    "attempt",
    "counts_as",
    "state",
    "begun_at",
    "submitted_at",
    "time_used_s",
    "score",
    "resolved",
)


def moment(at: datetime | None) -> str | None:
    """In the viewer's zone, as on the page, and with the offset that says which zone that is."""
    return timezone.localtime(at).isoformat(timespec="seconds") if at else None


def run_record(row: RunRow) -> dict[str, Any]:
    """One run of the list. No task is named: some of these runs have no debrief yet."""
    return {
        "run": str(row.id),
        "scenario": row.scenario_id,
        "customer": row.customer,
        "level": row.level,
        "attempt": row.attempt,
        "counts_as": "ranked" if row.is_ranked else "training" if row.training else "informed",
        "state": row.state,
        "begun_at": moment(row.begun_at),
        "submitted_at": moment(row.submitted_at),
        "time_used_s": int(row.time_used.total_seconds()) if row.time_used else None,
        "score": None if row.score is None else str(row.score),
        "resolved": row.resolved if row.score is not None else None,
    }


def as_csv(rows: Sequence[RunRow]) -> str:
    """A header and a line for each run."""
    return table(COLUMNS, ([run_record(row)[name] for name in COLUMNS] for row in rows))


def run_export(run: Run, grade: Grade) -> dict[str, Any]:
    """A graded run: figures from which S can be recomputed, and the log with its chain.

    ``log[n].hash = sha256(log[n-1].hash + canonical JSON of seq, kind, payload, at)``; the first hash before it is
    ``sha256("fdegym run log 1\\n" + run + "\\n" + release)``. ``head`` is signed by the site at this moment.
    """
    head, signature = sign_head(run)
    return {
        "format": "fdegym run 1",
        "run": {
            "id": str(run.id),
            "scenario": run.scenario_id,
            "task": run.task_id,
            "level": run.level,
            "release": run.release,
            "attempt": run.attempt,
            "ranked": run.is_ranked,
            "training": run.training,
            "begun_at": moment(run.begun_at),
            "opened_at": moment(run.opened_at),
            "submitted_at": moment(run.submitted_at),
        },
        "grade": {
            "kpi": grade.kpi,
            "kpi_baseline": grade.kpi_baseline,
            "kpi_reference": grade.kpi_reference,
            "uplift": str(grade.uplift),
            "uplift_adjusted": str(grade.uplift_adjusted),
            "contact_cost": str(grade.contact_cost),
            "score": str(grade.score),
            "resolved": grade.resolved,
            "incidents": grade.incidents,
            "permitted": grade.permitted,
            "breakdown": grade.breakdown,
            "key_facts": grade.key_facts,
            "contacts": grade.contacts,
            "replay": grade.replay,
            "environment": grade.environment,
            "scenario_release": grade.scenario_release,
            "grader_version": grade.grader_version,
            "salt_fingerprint": grade.salt_fingerprint,
            "system_sha256": grade.submission.sha256,
            "graded_at": moment(grade.created_at),
        },
        "log": [
            {
                "seq": event.seq,
                "kind": event.kind,
                "payload": event.payload,
                "at": instant(event.at),
                "hash": event.hash,
            }
            for event in events(run.id)
        ],
        "head": head,
        "signature": signature,
    }
