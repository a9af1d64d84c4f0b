"""Who carries a service: the last accepted hand-over of the right scope that has taken effect, else the catalogue."""

from pager.times import DAY, minute


def catalogue(connection):
    """Service → (team, tier), in the order of the ids."""
    rows = connection.execute("SELECT service_id, owner_team, tier FROM catalog ORDER BY service_id")
    return {service: (team, tier) for service, team, tier in rows}


def owners(connection, last, rules):
    """[(service, tier, [(from when, team)])] by service; the times up to ``last``, the first None: since ever."""
    moves = {} if rules["source"] == "catalogue" else accepted(connection, rules)
    found = []
    for service, (team, tier) in catalogue(connection).items():
        timeline = [(None, team)]
        newest = ""
        for effective, stamped, to_team in sorted(moves.get(service, ())):
            if effective < last and stamped > newest:
                newest = stamped
                timeline.append((effective, to_team))
        found.append((service, tier, timeline))
    return found


def accepted(connection, rules):
    """Service → [(when it takes effect, acceptance, to team)] of tickets whose last word is an acceptance."""
    renamed = dict(connection.execute("SELECT old_id, new_id FROM renamed"))
    last_word = {}
    for row in connection.execute("SELECT ticket, status, ts, service_id, to_team, scope FROM ticket_status ORDER BY ts"):
        last_word[row[0]] = row[1:]
    moves = {}
    for status, ts, service, to_team, scope in last_word.values():
        if status == "accepted" and scope in rules["scopes"]:
            while service in renamed:
                service = renamed[service]
            effective = minute(ts) + rules["warm_days"] * DAY
            moves.setdefault(service, []).append((effective, ts, to_team))
    return moves
