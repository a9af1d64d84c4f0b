"""The noise filter: which alert classes do not page at night, learnt once from the pages that are stored.

A class is the last word of a service's id with a severity, as in the noise report. Its score is the share of its pages
that nobody engaged with. Severity 3 is quiet first, then severity 2 from the highest score down, until half of the night
pages are gone.
"""

import json

from pager.times import is_night, minute

SCHEMA = """
CREATE TABLE noise (
    alert_class TEXT PRIMARY KEY,
    severity INTEGER NOT NULL,
    pages INTEGER NOT NULL,
    at_night INTEGER NOT NULL,
    score REAL NOT NULL,
    quiet INTEGER NOT NULL
);
"""
QUIETED = (3, 2)
AIM = 0.5


def class_of(service, severity):
    return f"{service.rpartition('-')[2]}/{severity}"


def quiet_classes(connection, offsets):
    """The classes that open a ticket instead of paging at night."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'noise'").fetchone():
        connection.executescript(SCHEMA)
        connection.executemany("INSERT INTO noise VALUES (?, ?, ?, ?, ?, ?)", learnt(connection, offsets))
        connection.commit()
    return {name for (name,) in connection.execute("SELECT alert_class FROM noise WHERE quiet")}


def learnt(connection, offsets):
    """A row for each class of the history."""
    offset_of = {person: offsets.get(site, 0) for person, site in connection.execute("SELECT person_id, site FROM people")}
    counted = {}
    for (body,) in connection.execute("SELECT body FROM event WHERE type = 'call' GROUP BY event_id"):
        page = json.loads(body)
        row = counted.setdefault(class_of(page["service_id"], page["severity"]), [page["severity"], 0, 0, 0])
        row[1] += 1
        row[2] += is_night(minute(page["ts"]), offset_of.get(page["person_id"], 0))
        row[3] += page["outcome"] != "engaged"
    left = AIM * sum(row[2] for row in counted.values())
    rows = []
    for name, (severity, pages, at_night, nothing) in sorted(counted.items(), key=order):
        quiet = severity in QUIETED and left > 0
        left -= at_night if quiet else 0
        rows.append((name, severity, pages, at_night, nothing / pages, int(quiet)))
    return rows


def order(item):
    name, (severity, pages, _, nothing) = item
    return -severity, -nothing / pages, name
