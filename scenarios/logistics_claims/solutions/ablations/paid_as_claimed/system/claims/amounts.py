"""How much is owed: the value that the claimant has declared."""


def payable(connection, case):
    """The amount claimed, EUR."""
    return case.claim["claimed_eur"]
