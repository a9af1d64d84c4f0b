"""How much is owed at most: terms of 2025, section 4."""

import csv
import functools

from claims import case as cases
from claims import rules

KG_PER_POUND = 1 / 2.2046


@functools.cache
def usual_weights():
    """(depot, product) → kilograms of a usual shipment."""
    with open("data/depot_weights.csv", encoding="utf-8", newline="") as file:
        return {(row["depot"], row["product"]): float(row["average_kg"]) for row in csv.DictReader(file)}


def kilograms(case):
    """Weight of the whole shipment; a missing one is the depot's usual weight, None where that is unknown too."""
    shipment = case.shipment
    if shipment["weight_kg"] is None:
        return usual_weights().get((shipment["depot"], shipment["product"]))
    return shipment["weight_kg"] * (KG_PER_POUND if in_pounds(case) else 1.0)


def in_pounds(case):
    """Whether the depot's system sent pounds on the day on which it weighed the shipment."""
    since, depot = rules.config()["pounds_from"], cases.depots().get(case.shipment["depot"])
    if not since or depot is None or not depot["live_from"]:
        return False
    weighed = next((scan.at.date().isoformat() for scan in case.scans if scan.event == "PU"), case.shipment["due_on"])
    return weighed >= since


def sdr_rate(connection, day):
    """EUR per special drawing right in the month of ``day``; the latest known where the month is not published."""
    month = day[:7]
    row = connection.execute(
        "SELECT eur_per_sdr FROM sdr WHERE month <= ? ORDER BY month DESC LIMIT 1", (month,)
    ).fetchone()
    return row["eur_per_sdr"] if row else None


def payable(connection, case):
    """What is owed if the claim is good, EUR; None where it cannot be worked out."""
    claim, shipment = case.claim, case.shipment
    if claim["type"] == "delay":
        return round(min(claim["claimed_eur"], shipment["carriage_eur"]), 2)
    weight, rate = kilograms(case), sdr_rate(connection, case.base_day)
    if weight is None or rate is None or not shipment["pieces"]:
        return None
    affected = min(claim["pieces_affected"], shipment["pieces"])
    limit = rules.config()["sdr_per_kg"] * rate * weight * affected / shipment["pieces"]
    return round(min(claim["claimed_eur"], limit), 2)
