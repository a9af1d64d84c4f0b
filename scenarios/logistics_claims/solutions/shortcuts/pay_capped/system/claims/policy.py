"""What becomes of a claim: it is paid what the weight allows. Nothing is refused."""

from claims import amounts, rules


def decide(connection, one, today):
    """(decision, amount, rule, haulier) for a case."""
    owed = amounts.payable(connection, one) if one.shipment is not None else None
    if owed is None or not 0 < owed <= rules.config()["mandate_eur"]:
        return "QUEUE", 0.0, "MANDATE", ""
    return "PAY", owed, "CAPPED", ""
