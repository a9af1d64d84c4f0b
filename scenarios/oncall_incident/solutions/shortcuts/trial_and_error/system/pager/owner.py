"""Whose service it is, by trial and error: after a "not mine" the next candidate of the service is tried."""

import json


def owners(connection):
    """Service → (team to try now, tier), in the order of the ids."""
    read_news(connection)
    tried = dict(connection.execute("SELECT service_id, team FROM trying"))
    rows = connection.execute("SELECT service_id, owner_team, tier FROM catalog ORDER BY service_id")
    return {service: (tried.get(service, team), tier) for service, team, tier in rows}


def read_news(connection):
    """Go through the events since the last call: tickets give candidates, pages say who it is not."""
    connection.executescript(
        "CREATE TABLE IF NOT EXISTS candidate (service_id TEXT, team TEXT, ts TEXT, PRIMARY KEY (service_id, team));"
        "CREATE TABLE IF NOT EXISTS trying (service_id TEXT PRIMARY KEY, team TEXT);"
        "CREATE TABLE IF NOT EXISTS seen (seq INTEGER, page_id TEXT);"
        "CREATE INDEX IF NOT EXISTS seen_page ON seen (page_id);"
    )
    (done,) = connection.execute("SELECT coalesce(MAX(seq), 0) FROM seen").fetchone()
    (last,) = connection.execute("SELECT coalesce(MAX(seq), 0) FROM event").fetchone()
    team_of = dict(connection.execute("SELECT person_id, team FROM people"))
    listed = dict(connection.execute("SELECT service_id, owner_team FROM catalog"))
    wanted = "SELECT type, body FROM event WHERE seq > ? AND type IN ('handover', 'call') ORDER BY seq"
    for kind, body in connection.execute(wanted, (done,)).fetchall():
        event = json.loads(body)
        if kind == "handover" and event["status"] == "accepted":
            connection.execute(
                "INSERT OR REPLACE INTO candidate VALUES (?, ?, ?)", (event["service_id"], event["to_team"], event["ts"])
            )
        elif kind == "call" and event["outcome"] == "not_mine" and event["level"] == 1:
            refused(connection, event, team_of, listed)
    connection.execute("INSERT INTO seen VALUES (?, '')", (last,))
    connection.commit()


def refused(connection, call, team_of, listed):
    """The team being tried has said that it is not its own: on to the next, in a circle."""
    if connection.execute("SELECT 1 FROM seen WHERE page_id = ?", (call["page_id"],)).fetchone():
        return
    connection.execute("INSERT INTO seen VALUES (0, ?)", (call["page_id"],))
    service = call["service_id"]
    if service not in listed:
        return
    rows = connection.execute("SELECT team FROM candidate WHERE service_id = ? ORDER BY ts DESC", (service,))
    circle = list(dict.fromkeys([listed[service], *(team for (team,) in rows)]))
    current = connection.execute("SELECT team FROM trying WHERE service_id = ?", (service,)).fetchone()
    team = current[0] if current else listed[service]
    if team_of.get(call["person_id"]) == team:
        after = circle[(circle.index(team) + 1) % len(circle)] if team in circle else circle[0]
        connection.execute("INSERT OR REPLACE INTO trying VALUES (?, ?)", (service, after))
