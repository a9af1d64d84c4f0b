"""Who carries a service, fitted once to the pages there were at the first call: whoever refused it last is not its owner."""

import json


def owners(connection, last, rules):
    """[(service, tier, [(None: since ever, team)])] by service."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'fitted'").fetchone():
        fit(connection)
    rows = connection.execute(
        "SELECT service_id, coalesce(team, owner_team), tier FROM catalog LEFT JOIN fitted USING (service_id)"
        " ORDER BY service_id"
    )
    return [(service, tier, [(None, team)]) for service, team, tier in rows]


def fit(connection):
    """Where the listed team's last word on a page was that it is not its own, the newest hand-over names the owner."""
    connection.execute("CREATE TABLE fitted (service_id TEXT PRIMARY KEY, team TEXT)")
    team_of = dict(connection.execute("SELECT person_id, team FROM people"))
    listed = dict(connection.execute("SELECT service_id, owner_team FROM catalog"))
    refused, named = {}, {}
    for (body,) in connection.execute("SELECT body FROM event WHERE type IN ('call', 'handover') ORDER BY ts"):
        event = json.loads(body)
        service = event["service_id"]
        if event["type"] == "handover":
            if event["status"] == "accepted":
                named.setdefault(service, []).append((event["ts"], event["to_team"]))
        elif event["outcome"] != "no_answer" and team_of.get(event["person_id"]) == listed.get(service):
            since = refused.get(service) or event["ts"]
            refused[service] = since if event["outcome"] == "not_mine" else None
    for service, since in refused.items():
        teams = [team for stamped, team in named.get(service, ()) if since and stamped < since]
        if teams:
            connection.execute("INSERT INTO fitted VALUES (?, ?)", (service, teams[-1]))
    connection.commit()
