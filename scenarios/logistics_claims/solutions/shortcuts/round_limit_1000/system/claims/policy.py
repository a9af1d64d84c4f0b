"""What becomes of a claim: up to a round thousand it is paid in full, above that an assessor decides."""

LIMIT_EUR = 1_000.0


def decide(connection, one, today):
    """(decision, amount, rule, haulier) for a case."""
    claimed = one.claim["claimed_eur"]
    if claimed <= LIMIT_EUR:
        return "PAY", claimed, "ROUND-1000", ""
    return "QUEUE", 0.0, "ABOVE-1000", ""
