"""What becomes of a claim: a key account's is paid as claimed, up to the mandate; any other by the terms."""

from claims import amounts, case, recourse, rules

KEY = "key"


def decide(connection, one, today):
    """(decision, amount, rule, haulier) for a case."""
    mandate = rules.config()["mandate_eur"]
    if one.customer_class == KEY:
        claimed = one.claim["claimed_eur"]
        return ("PAY", claimed, "KEY", "") if claimed <= mandate else ("QUEUE", 0.0, "MANDATE", "")
    if one.shipment is None:
        return "QUEUE", 0.0, "UNKNOWN", ""
    depot = case.depots().get(one.shipment["destination"])
    ground = rules.refusal(connection, one, depot["country"] if depot else "")
    if ground is not None:
        return "REFUSE", 0.0, ground, ""
    if one.doubtful:
        return "QUEUE", 0.0, "P1", ""
    owed = amounts.payable(connection, one)
    if owed is None or not 0 < owed <= mandate:
        return "QUEUE", 0.0, "MANDATE", ""
    return "PAY", owed, "OWED", recourse.letter_to(one, today)
