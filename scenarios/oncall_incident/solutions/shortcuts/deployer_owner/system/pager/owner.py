"""Whose service it is: the team that deployed it last, the catalogue's where nobody has."""

import json


def owners(connection):
    """Service → (owner team, tier), in the order of the ids."""
    note_deploys(connection)
    rows = connection.execute(
        "SELECT service_id, coalesce(team, owner_team), tier FROM catalog LEFT JOIN last_deploy USING (service_id)"
        " ORDER BY service_id"
    )
    return {service: (team, tier) for service, team, tier in rows}


def note_deploys(connection):
    """Bring ``last_deploy`` up to the last event that was read."""
    connection.executescript(
        "CREATE TABLE IF NOT EXISTS last_deploy (service_id TEXT PRIMARY KEY, team TEXT, ts TEXT);"
        "CREATE TABLE IF NOT EXISTS deploys_read (seq INTEGER);"
    )
    (done,) = connection.execute("SELECT coalesce(MAX(seq), 0) FROM deploys_read").fetchone()
    (last,) = connection.execute("SELECT coalesce(MAX(seq), 0) FROM event").fetchone()
    news = connection.execute("SELECT body FROM event WHERE seq > ? AND type = 'deploy'", (done,)).fetchall()
    for (body,) in news:
        deploy = json.loads(body)
        connection.execute(
            "INSERT INTO last_deploy VALUES (:service_id, :team, :ts) ON CONFLICT (service_id)"
            " DO UPDATE SET team = excluded.team, ts = excluded.ts WHERE excluded.ts > ts",
            {name: deploy[name] for name in ("service_id", "team", "ts")},
        )
    connection.execute("DELETE FROM deploys_read")
    connection.execute("INSERT INTO deploys_read VALUES (?)", (last,))
    connection.commit()
