"""The database: one file, opened once a call."""

import sqlite3
from pathlib import Path

SCHEMA = """
CREATE TABLE IF NOT EXISTS event (
    seq INTEGER PRIMARY KEY,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    ts TEXT NOT NULL,
    delivered TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS override (
    override_id TEXT NOT NULL,
    team TEXT NOT NULL,
    person_out TEXT NOT NULL,
    person_in TEXT NOT NULL,
    start TEXT NOT NULL,
    "end" TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS override_by_end ON override ("end");
CREATE TABLE IF NOT EXISTS catalog (
    service_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    owner_team TEXT NOT NULL,
    tier TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS rota (
    team TEXT NOT NULL,
    date TEXT NOT NULL,
    shift TEXT NOT NULL,
    start TEXT NOT NULL,
    "end" TEXT NOT NULL,
    "primary" TEXT NOT NULL,
    secondary TEXT NOT NULL,
    PRIMARY KEY (date, team, shift)
);
CREATE TABLE IF NOT EXISTS people (
    person_id TEXT PRIMARY KEY,
    team TEXT NOT NULL,
    site TEXT NOT NULL,
    profile_tz TEXT NOT NULL,
    phone_ok TEXT NOT NULL
);
"""


def connect(path):
    """Open the database; an absent one is created empty."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'people'").fetchone():
        connection.executescript(SCHEMA)
    return connection
