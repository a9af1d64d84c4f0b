"""How much a claim looks like a try-on: who claims, and from where, weighed by what became of such claims in ten months.

``config/score.csv``: ``feature``, ``value``, ``weight``. A claim's score is the sum of its weights.
"""

import csv
import functools

FEATURES = ("role", "product", "type", "customer_id", "origin", "destination")
CUTOFF = "cutoff"


@functools.cache
def weights():
    with open("config/score.csv", encoding="utf-8", newline="") as file:
        return {(row["feature"], row["value"]): float(row["weight"]) for row in csv.DictReader(file)}


def score(claim, shipment):
    values = {"role": claim["role"], "product": claim["product"], "type": claim["type"]}
    if shipment is not None:
        values |= {name: shipment[name] for name in ("customer_id", "origin", "destination")}
    return sum(weights().get(item, 0.0) for item in values.items())


def is_worst(claim, shipment):
    """Whether four fifths of the claims above 400 EUR score lower."""
    return score(claim, shipment) > weights()[CUTOFF, "400"]
