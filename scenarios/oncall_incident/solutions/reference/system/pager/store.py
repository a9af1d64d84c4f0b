"""The database: one file, opened once a call. Events count once; what follows from them is kept beside them.

A database that the first version of ``pager`` filled is taken over: its events are read again, each once.
"""

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
DELETE FROM event WHERE seq NOT IN (SELECT min(seq) FROM event GROUP BY event_id);
CREATE UNIQUE INDEX event_by_id ON event (event_id);
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
CREATE TABLE ticket_status (
    ticket TEXT NOT NULL,
    ts TEXT NOT NULL,
    status TEXT NOT NULL,
    service_id TEXT NOT NULL,
    to_team TEXT NOT NULL,
    scope TEXT NOT NULL,
    PRIMARY KEY (ticket, ts, status)
);
CREATE TABLE renamed (old_id TEXT PRIMARY KEY, new_id TEXT NOT NULL);
CREATE TABLE swap (
    override_id TEXT PRIMARY KEY,
    created TEXT,
    team TEXT NOT NULL,
    person_in TEXT NOT NULL,
    start TEXT NOT NULL,
    "end" TEXT NOT NULL,
    entered_by TEXT NOT NULL,
    cancelled INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX swap_by_end ON swap ("end");
CREATE TABLE rung (person_id TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (at, person_id)) WITHOUT ROWID;
CREATE TABLE transition (site TEXT NOT NULL, utc_from TEXT NOT NULL, offset_min INTEGER NOT NULL);
"""


def connect(path):
    """(connection, whether the events in it must be read again)."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    fresh = not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'ticket_status'").fetchone()
    if fresh:
        connection.executescript(SCHEMA)
    return connection, fresh
