"""Whose service it is: the team of the last accepted hand-over, four weeks on, else the catalogue's."""

import json

from pager.times import DAY, minute

WARM = 28 * DAY


def owners(connection):
    """Service → (owner team, tier), in the order of the ids."""
    moved = hand_overs(connection)
    rows = connection.execute("SELECT service_id, owner_team, tier FROM catalog ORDER BY service_id")
    return {service: (moved.get(service, team), tier) for service, team, tier in rows}


def hand_overs(connection):
    """Service → team of the newest accepted ticket that is old enough when the last event came in."""
    connection.execute("CREATE INDEX IF NOT EXISTS event_by_type ON event (type, ts)")
    (now,) = connection.execute("SELECT delivered FROM event ORDER BY seq DESC LIMIT 1").fetchone()
    moved = {}
    for (body,) in connection.execute("SELECT body FROM event WHERE type = 'handover' ORDER BY ts"):
        ticket = json.loads(body)
        if ticket["status"] == "accepted" and minute(ticket["ts"]) + WARM <= minute(now):
            moved[ticket["service_id"]] = ticket["to_team"]
    return moved
