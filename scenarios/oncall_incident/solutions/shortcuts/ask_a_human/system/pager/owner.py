"""Whose service it is as the catalogue says, and whether anybody disputes it."""

import json


def owners(connection):
    """Service → (the catalogue's team, whether an accepted hand-over names another, tier), in the order of the ids."""
    connection.execute("CREATE INDEX IF NOT EXISTS event_by_type ON event (type, ts)")
    named = {}
    for (body,) in connection.execute("SELECT body FROM event WHERE type = 'handover'"):
        ticket = json.loads(body)
        if ticket["status"] == "accepted":
            named.setdefault(ticket["service_id"], set()).add(ticket["to_team"])
    rows = connection.execute("SELECT service_id, owner_team, tier FROM catalog ORDER BY service_id")
    return {service: (team, bool(named.get(service, set()) - {team}), tier) for service, team, tier in rows}
