"""What becomes of a claim: refused on a ground of the terms or for want of proof, else paid what is owed up to the mandate."""

from claims import amounts, case, rules


def decide(connection, one, today):
    """(decision, amount, rule, haulier) for a case."""
    if one.shipment is None:
        return "QUEUE", 0.0, "UNKNOWN", ""
    depot = case.depots().get(one.shipment["destination"])
    ground = rules.refusal(connection, one, depot["country"] if depot else "")
    if ground is not None or one.doubtful:
        return "REFUSE", 0.0, ground or "NOT-PROVEN", ""
    owed = amounts.payable(connection, one)
    if owed is None or not 0 < owed <= rules.config()["mandate_eur"]:
        return "QUEUE", 0.0, "MANDATE", ""
    return "PAY", owed, "OWED", ""
