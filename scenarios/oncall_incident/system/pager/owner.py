"""Whose service it is."""


def owners(connection):
    """Service → (owner team, tier), in the order of the ids, as the catalogue says."""
    rows = connection.execute("SELECT service_id, owner_team, tier FROM catalog ORDER BY service_id")
    return {service: (team, tier) for service, team, tier in rows}
