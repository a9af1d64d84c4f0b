"""Writes what the workspace shows: events, tables, past incidents, and the pager's database."""

from __future__ import annotations

import csv
import io
import json
import runpy
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scenarios.kit.tables import write_sqlite
from scenarios.kit.world import BuildResult, Streams, TaskView
from scenarios.oncall_incident.world.clock import DAY, HOUR, VISIBLE, WEEK, moment, transitions_csv
from scenarios.oncall_incident.world.history import History, all_lines, history, incident_id
from scenarios.oncall_incident.world.noise import noise_counts
from scenarios.oncall_incident.world.organisation import CLERKS, TEAM_SITE
from scenarios.oncall_incident.world.roster import NEW_SCHEDULER, ROTA_COLUMNS, Swap
from scenarios.oncall_incident.world.tickets import OPS, Ticket
from scenarios.oncall_incident.world.truth import ROTA_KNOWN_UNTIL, Truth

SYSTEM = Path(__file__).parent.parent / "system"
EX_ROTA = ("Ledger", "2026-09-22", "D")
SPELT = {"D": ("D", "day", "白班"), "N": ("N", "night", "夜班")}


def build(task: TaskView, streams: Streams, out: Path) -> BuildResult:
    """Write ``out/data`` and the generated part of ``out/system``; the rest of ``system`` is there already."""
    truth = Truth(task, streams)
    found = history(truth)
    data = out / "data"
    for day, lines in sorted(found.lines.items()):
        _write(data / "events" / f"{day:%Y%m%d}.jsonl", "".join(f"{line}\n" for line in lines).encode())
    tables = {
        "catalog.csv": truth.catalog_csv(VISIBLE[1]),
        "calls.csv": found.calls_csv(),
        "rota.csv": truth.roster.rota_csv(*VISIBLE),
        "people.csv": truth.people_csv(VISIBLE[1]),
        "tz_transitions.csv": transitions_csv(),
        "incidents.csv": found.incidents_csv(),
    }
    for name, content in tables.items():
        _write(data / name, content)
    _write_database(out, truth, found, tables)
    return _result(truth, found)


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


# ---- the database, as the calls of 15 June to 27 September left it ----


def _write_database(out: Path, truth: Truth, found: History, tables: Mapping[str, bytes]) -> None:
    events: list[tuple[object, ...]] = []
    swaps: list[tuple[str, ...]] = []
    for number, line in enumerate(all_lines(found), 1):
        event = json.loads(line)
        events.append((number, event["event_id"], event["type"], event["ts"], event["delivered"], line))
        if event["type"] == "override":
            swaps = _entered(swaps, event)
    path = out / "system" / "var" / "pager.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    rota = truth.roster.rota_csv(VISIBLE[0] - DAY, ROTA_KNOWN_UNTIL)
    content: dict[str, Iterable[Sequence[object]]] = {
        "event": events,
        "override": swaps,
        "catalog": _columns(tables["catalog.csv"], ("service_id", "name", "owner_team", "tier")),
        "rota": _columns(rota, ROTA_COLUMNS),
        "people": _columns(tables["people.csv"], ("person_id", "team", "site", "profile_tz", "phone_ok")),
    }
    write_sqlite(path, str(runpy.run_path(str(SYSTEM / "pager" / "store.py"))["SCHEMA"]), content)


def _entered(swaps: list[tuple[str, ...]], event: Mapping[str, Any]) -> list[tuple[str, ...]]:
    if event["action"] == "cancel":
        return [swap for swap in swaps if swap[0] != event["override_id"]]
    names = ("override_id", "team", "person_out", "person_in", "start", "end")
    return [*swaps, tuple(str(event[name]) for name in names)]


def _columns(data: bytes, names: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(row[name] for name in names) for row in csv.DictReader(io.StringIO(data.decode(), newline=""))]


# ---- what people may cite, and the examples that texts and conversations name ----


def _result(truth: Truth, found: History) -> BuildResult:
    lines = [json.loads(line) for line in all_lines(found) if '"handover"' in line or '"override"' in line]
    tickets = {event["ticket"] for event in lines if event["type"] == "handover"}
    swaps = {event["override_id"] for event in lines if event["type"] == "override"}
    rota = truth.roster.rota_rows(*VISIBLE)
    records = {
        "ticket": sorted(tickets),
        "swap": sorted(swaps),
        "incident": [incident_id(index) for index in range(len(found.played))],
        "page": found.page_ids(),
        "rota": _spelt(rota),
    }
    new = moment(NEW_SCHEDULER).date().isoformat()
    groups = {"rota_since_september": {"rota": _spelt([row for row in rota if row[1] >= new])}}
    return BuildResult(facts=_examples(truth, found), records=records, record_groups=groups)


def _spelt(rows: Iterable[Sequence[str]]) -> list[str]:
    return [f"{row[0]}|{row[1]}|{word}" for row in rows for word in SPELT[row[2]]]


def _examples(truth: Truth, found: History) -> dict[str, object]:
    ops, moved = _ops_ticket(truth), _moved_ticket(truth, found)
    code = _accepted(truth, "code")[-1]
    swap = _swap(truth)
    row = next(row for row in truth.roster.rota_rows(*VISIBLE) if row[:3] == EX_ROTA)
    return {
        "not_mine_pct": found.not_mine_pct(),
        "noise": noise_counts(found),
        "ex_ops_ticket": ops.number,
        "ex_ops_service": truth.fleet[ops.service].id,
        "ex_code_ticket": code.number,
        "ex_swap": swap.number,
        "ex_swap_start": f"{moment(swap.typed[0]):%H:%M}",
        "ex_swap_end": f"{moment(swap.typed[1]):%H:%M}",
        "ex_rota_team": row[0],
        "ex_rota_date": row[1],
        "ex_rota_start": row[3],
        "ex_moved_service": truth.fleet[moved.service].id,
        "ex_moved_from": truth.fleet[moved.service].owner,
        "ex_moved_to": moved.to_team,
    }


def _accepted(truth: Truth, scope: str) -> list[Ticket]:
    """Accepted within the visible weeks, never declined, in order."""
    return sorted(
        (
            ticket
            for ticket in truth.tickets
            if ticket.scope == scope
            and len(ticket.states) == 2
            and VISIBLE[0] < (ticket.accepted_at or -1) < VISIBLE[1]
        ),
        key=lambda ticket: ticket.accepted_at or 0,
    )


def _ops_ticket(truth: Truth) -> Ticket:
    """The last whose four weeks are over."""
    return [one for one in _accepted(truth, OPS) if (one.accepted_at or 0) < VISIBLE[1] - 5 * WEEK][-1]


def _moved_ticket(truth: Truth, found: History) -> Ticket:
    """Its service was taken over weeks ago, is paged by the catalogue, and was so in the last week."""
    paged = {one.alert.service for one in found.played if one.pages and one.alert.at >= VISIBLE[1] - WEEK}
    moved = [
        one
        for one in truth.tickets
        if one.scope == OPS
        and (one.accepted_at or VISIBLE[1]) < VISIBLE[1] - 5 * WEEK
        and truth.carriers.at(one.service, VISIBLE[1] - 2 * DAY) == one.to_team != truth.fleet[one.service].owner
    ]
    return min(moved, key=lambda one: (one.service not in paged, one.service))


def _swap(truth: Truth) -> Swap:
    """A standing swap for another site's team, typed by the desk in Singapore into the old tool, as from 20:00 to 08:00."""
    fits = [
        swap
        for swap in truth.roster.swaps
        if swap.entered_by == CLERKS["Singapore"]
        and TEAM_SITE[swap.team] != "Singapore"
        and not swap.cancelled_at
        and VISIBLE[0] < swap.created < NEW_SCHEDULER
        and swap.end - swap.start == 12 * HOUR
    ]
    return min(reversed(fits), key=lambda swap: abs(swap.typed[0] // HOUR % 24 - 20))
