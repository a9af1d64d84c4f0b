"""What becomes of a claim.

It is refused on the first ground that holds (``claims.rules``), handed to the assessors if more is owed than the mandate, and
otherwise paid what is owed (``claims.amounts``), with a letter to the haulier where one can be charged
(``claims.recourse``).
"""

from claims import amounts, case, recourse, rules

OWED = "OWED"


def ground_of_refusal(connection, one):
    """The code of the rule that refuses the claim of a known shipment, or None."""
    depot = case.depots().get(one.shipment["destination"])
    return rules.refusal(connection, one, depot["country"] if depot else "")


def decide(connection, one, today):
    """(decision, amount, rule, haulier) for a case."""
    if one.shipment is None:
        return "QUEUE", 0.0, "UNKNOWN", ""
    ground = ground_of_refusal(connection, one)
    if ground is not None:
        return "REFUSE", 0.0, ground, ""
    owed = amounts.payable(connection, one)
    if owed is None or owed <= 0:
        return "QUEUE", 0.0, "WEIGHT", ""
    if owed > rules.config()["mandate_eur"]:
        return "QUEUE", 0.0, "MANDATE", ""
    return "PAY", owed, OWED, recourse.letter_to(one, today)
