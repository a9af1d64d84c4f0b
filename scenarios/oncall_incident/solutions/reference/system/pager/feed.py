"""Reads what production brings. An event counts once, by its id, and when it happened is told by ``ts``."""

import csv
import json
from pathlib import Path

from pager.times import minute, shipped_transitions

TABLES = {
    "catalog": ("service_id", "name", "owner_team", "tier"),
    "people": ("person_id", "team", "site", "profile_tz", "phone_ok"),
    "rota": ("team", "date", "shift", "start", "end", "primary", "secondary"),
}
TRANSITION = ("site", "utc_from", "offset_min")


def take_over(connection):
    """Read the events again that an older version stored."""
    connection.executemany("INSERT INTO transition VALUES (?, ?, ?)", shipped_transitions())
    for (body,) in connection.execute("SELECT body FROM event WHERE type <> 'deploy' ORDER BY seq").fetchall():
        apply(connection, json.loads(body))


def read(connection, folder):
    """Load every file of the feed directory that is there."""
    folder = Path(folder)
    if (folder / "events.jsonl").is_file():
        read_events(connection, folder / "events.jsonl")
    for table, columns in TABLES.items():
        if (folder / f"{table}.csv").is_file():
            if table != "rota":
                connection.execute(f"DELETE FROM {table}")
            load(connection, table, columns, folder / f"{table}.csv")
    if (folder / "tz_transitions.csv").is_file():
        connection.execute("DELETE FROM transition")
        load(connection, "transition", TRANSITION, folder / "tz_transitions.csv")


def read_events(connection, path):
    with path.open(encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            new = connection.execute(
                "INSERT OR IGNORE INTO event (event_id, type, ts, delivered, body) VALUES (?, ?, ?, ?, ?)",
                (event["event_id"], event["type"], event["ts"], event["delivered"], line.strip()),
            )
            if new.rowcount:
                apply(connection, event)


def apply(connection, event):
    """What follows from an event, in whatever order events come."""
    if event["type"] == "handover":
        row = tuple(event[name] for name in ("ticket", "ts", "status", "service_id", "to_team", "scope"))
        connection.execute("INSERT OR IGNORE INTO ticket_status VALUES (?, ?, ?, ?, ?, ?)", row)
    elif event["type"] == "override":
        swap(connection, event)
    elif event["type"] == "call":
        rung = (event["person_id"], minute(event["ts"]))
        connection.execute("INSERT OR IGNORE INTO rung VALUES (?, ?)", rung)
    elif event["type"] == "catalog_edit" and event["field"] == "service_id":
        connection.execute("INSERT OR REPLACE INTO renamed VALUES (?, ?)", (event["old"], event["new"]))


def swap(connection, event):
    """A cancelled swap is cancelled, also if its creation is delivered later."""
    cancels = event["action"] == "cancel"
    names = ("override_id", "team", "person_in", "start", "end", "entered_by")
    row = (None if cancels else event["ts"], int(cancels), *(event[name] for name in names))
    connection.execute(
        'INSERT INTO swap (created, cancelled, override_id, team, person_in, start, "end", entered_by)'
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (override_id) DO UPDATE SET"
        " created = coalesce(created, excluded.created), cancelled = max(cancelled, excluded.cancelled)",
        row,
    )


def load(connection, table, columns, path):
    """Insert the rows of a table; a row with the same key is replaced."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [tuple(row[name] for name in columns) for row in csv.DictReader(file)]
    marks = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)
