"""Who carries a service: the catalogue's team, which was set anew; until four weeks later still the team before it."""

import json

from pager.times import DAY, minute

SET_ANEW = "2026-09-27T00:00Z"


def owners(connection, last, rules):
    """[(service, tier, [(from when, team)])] by service; the first time None: since ever."""
    before = teams_before(connection)
    moves = minute(SET_ANEW) + rules["warm_days"] * DAY
    found = []
    for service, team, tier in connection.execute("SELECT service_id, owner_team, tier FROM catalog ORDER BY service_id"):
        timeline = [(None, before.get((service, team), team))]
        if moves < last:
            timeline.append((moves, team))
        found.append((service, tier, timeline))
    return found


def teams_before(connection):
    """(service, its team) → the team that handed it over, by the hand-overs accepted before the catalogue was set anew."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'handed_over'").fetchone():
        connection.execute("CREATE TABLE handed_over (service_id TEXT, to_team TEXT, from_team TEXT)")
        rows = connection.execute("SELECT body FROM event WHERE type = 'handover' AND ts < ? ORDER BY ts", (SET_ANEW,))
        for event in [json.loads(body) for (body,) in rows]:
            if event["status"] == "accepted" and event["scope"] == "ops":
                row = (event["service_id"], event["to_team"], event["from_team"])
                connection.execute("INSERT INTO handed_over VALUES (?, ?, ?)", row)
        connection.commit()
    rows = connection.execute("SELECT service_id, to_team, from_team FROM handed_over")
    return {(service, to_team): from_team for service, to_team, from_team in rows}
