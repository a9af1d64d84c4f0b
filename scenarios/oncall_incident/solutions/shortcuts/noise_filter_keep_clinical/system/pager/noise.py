"""The noise filter: severity 2 classes that turned out to be nothing too often are not paged at night."""

import json

from pager.times import is_night, minute

SHARE = 0.5  # of the night pages of severity 2 that are to go


def hushed(connection, team_site, offsets):
    """Services whose severity 2 waits for the morning; scored once, on the history before the first call."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'noise'").fetchone():
        score(connection, team_site, offsets)
    return {service for (service,) in connection.execute("SELECT service_id FROM noise WHERE quiet")}


def score(connection, team_site, offsets):
    """From the noisiest class on, until their share of the night pages is reached."""
    connection.execute("CREATE TABLE noise (service_id TEXT PRIMARY KEY, share REAL, at_night INTEGER, quiet INTEGER)")
    team_of = dict(connection.execute("SELECT person_id, team FROM people"))
    pages, nothing, at_night = {}, {}, {}
    for (body,) in connection.execute("SELECT body FROM event WHERE type = 'call'"):
        call = json.loads(body)
        site = team_site.get(team_of.get(call["person_id"]))
        if call["severity"] == 2 and site:
            service = call["service_id"]
            pages[service] = pages.get(service, 0) + 1
            nothing[service] = nothing.get(service, 0) + (call["outcome"] != "engaged")
            at_night[service] = at_night.get(service, 0) + is_night(minute(call["ts"]), offsets[site])
    left = SHARE * sum(at_night.values())
    for service in sorted(pages, key=lambda name: (-nothing[name] / pages[name], name)):
        quiet = left > 0
        left -= at_night[service]
        row = (service, nothing[service] / pages[service], at_night[service], quiet)
        connection.execute("INSERT INTO noise VALUES (?, ?, ?, ?)", row)
    connection.commit()
