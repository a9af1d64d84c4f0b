"""Who may carry a service: the catalogue's team and, where a hand-over names another one, that team as well."""

import json


def owners(connection):
    """Service → (the catalogue's team, the team of the last accepted hand-over or None, tier), in the order of the ids."""
    connection.execute("CREATE INDEX IF NOT EXISTS event_by_type ON event (type, ts)")
    moved = {}
    for (body,) in connection.execute("SELECT body FROM event WHERE type = 'handover' ORDER BY ts"):
        ticket = json.loads(body)
        if ticket["status"] == "accepted":
            moved[ticket["service_id"]] = ticket["to_team"]
    rows = connection.execute("SELECT service_id, owner_team, tier FROM catalog ORDER BY service_id")
    return {service: (team, other_than(team, moved.get(service)), tier) for service, team, tier in rows}


def other_than(team, named):
    return named if named != team else None
