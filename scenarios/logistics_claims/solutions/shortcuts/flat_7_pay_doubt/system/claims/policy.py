"""What becomes of a claim: refused on a ground of the terms, else paid what is owed up to the mandate, proven or not."""

from claims import amounts, case, recourse, rules


def decide(connection, one, today):
    """(decision, amount, rule, haulier) for a case."""
    if one.shipment is None:
        return "QUEUE", 0.0, "UNKNOWN", ""
    depot = case.depots().get(one.shipment["destination"])
    ground = rules.refusal(connection, one, depot["country"] if depot else "")
    if ground is not None:
        return "REFUSE", 0.0, ground, ""
    owed = amounts.payable(connection, one)
    if owed is None or not 0 < owed <= rules.config()["mandate_eur"]:
        return "QUEUE", 0.0, "MANDATE", ""
    return "PAY", owed, "OWED", recourse.letter_to(one, today)
