"""Reads what production brings: events since the last call, and tables when there are new ones."""

import csv
import json
from pathlib import Path

OVERRIDE = ("override_id", "team", "person_out", "person_in", "start", "end")
CATALOG = ("service_id", "name", "owner_team", "tier")
ROTA = ("team", "date", "shift", "start", "end", "primary", "secondary")
PEOPLE = ("person_id", "team", "site", "profile_tz", "phone_ok")


def read(connection, folder):
    """Load every file of the feed directory that is there."""
    folder = Path(folder)
    if (folder / "events.jsonl").is_file():
        read_events(connection, folder / "events.jsonl")
    if (folder / "catalog.csv").is_file():
        connection.execute("DELETE FROM catalog")
        load(connection, "catalog", CATALOG, folder / "catalog.csv")
    if (folder / "rota.csv").is_file():
        load(connection, "rota", ROTA, folder / "rota.csv")
    if (folder / "people.csv").is_file():
        connection.execute("DELETE FROM people")
        load(connection, "people", PEOPLE, folder / "people.csv")


def read_events(connection, path):
    """Store the events of a file line by line; a swap is entered or taken out as its line is read."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            store(connection, event, line)
            if event["type"] == "override":
                swap(connection, event)


def store(connection, event, line):
    connection.execute(
        "INSERT INTO event (event_id, type, ts, delivered, body) VALUES (?, ?, ?, ?, ?)",
        (event["event_id"], event["type"], event["ts"], event["delivered"], line.strip()),
    )


def swap(connection, event):
    if event["action"] == "cancel":
        connection.execute("DELETE FROM override WHERE override_id = ?", (event["override_id"],))
    else:
        connection.execute(
            "INSERT INTO override VALUES (?, ?, ?, ?, ?, ?)", tuple(event[name] for name in OVERRIDE)
        )


def load(connection, table, columns, path):
    """Insert the rows of a table; a row with the same key is replaced."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [tuple(row[name] for name in columns) for row in csv.DictReader(file)]
    marks = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)
