"""What becomes of a claim: what became of most others of its kind."""

import csv
import functools

from claims import learn

MOST_PAID_EUR = 800.0
FEW = 15


@functools.cache
def learned():
    """Kind of claim → (claims seen, share refused, share of the amount that was paid of the others)."""
    with open(learn.LEARNED, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return {tuple(row[:5]): (int(row[5]), float(row[6]), float(row[7])) for row in rows}


def decide(connection, one, today):
    """(decision, amount, rule, haulier) for a case."""
    if one.shipment is None:
        return "QUEUE", 0.0, "UNKNOWN", ""
    kind = learn.kind_of(one.claim, one.shipment, one.customer_class, one.code)
    seen, refused, share = learned().get(kind, (0, 0.0, 0.0))
    if seen < FEW:
        return "QUEUE", 0.0, "RARE", ""
    if refused > 0.5:
        return "REFUSE", 0.0, "HISTORY", ""
    amount = round(share * one.claim["claimed_eur"], 2)
    return ("PAY", amount, "HISTORY", "") if 0 < amount <= MOST_PAID_EUR else ("QUEUE", 0.0, "LARGE", "")
