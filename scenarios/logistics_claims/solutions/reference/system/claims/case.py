"""A claim with everything that is known about its shipment: scans in the order of time, receipt, customer class."""

import csv
import functools
from dataclasses import dataclass
from datetime import datetime, timedelta

OWN = "own"
SPOT = "spot"


@dataclass(frozen=True)
class Scan:
    """``at`` is in UTC."""

    at: datetime
    place: str
    event: str
    carrier: str


@dataclass(frozen=True)
class Case:
    """``shipment`` is None where nobody knows it; ``customer_class`` is spot where the customer is unknown."""

    claim: object
    shipment: object
    scans: tuple
    code: str
    customer_class: str

    @property
    def base_day(self):
        """Day of delivery, or the promised one until goods turn up."""
        return self.shipment["delivered_on"] or self.shipment["due_on"]

    @property
    def haulier(self):
        """The haulier that drove a leg, or blank."""
        return next((scan.carrier for scan in self.scans if scan.carrier != OWN), "")

    @property
    def doubtful(self):
        return self.claim["evidence"] == "P1"

    def has(self, *events):
        return any(scan.event in events for scan in self.scans)


@functools.cache
def depots():
    """Depot → its row in ``data/depots.csv``."""
    with open("data/depots.csv", encoding="utf-8", newline="") as file:
        return {row["depot"]: row for row in csv.DictReader(file)}


def timeline(connection, shipment_id):
    """Scans of a shipment in the order of time. Each depot's clock is its own, without summer time."""
    rows = connection.execute("SELECT ts, place, event, carrier FROM scan WHERE shipment_id = ?", (shipment_id,))
    scans = []
    for row in rows:
        depot = depots().get(row["place"])
        offset = int(depot["utc_offset_h"]) if depot else 1
        at = datetime.fromisoformat(row["ts"]) - timedelta(hours=offset)
        scans.append(Scan(at, row["place"], row["event"], row["carrier"]))
    return tuple(sorted(scans, key=lambda scan: scan.at))


def read(connection, claim_id):
    """The case of a claim."""
    claim = connection.execute("SELECT * FROM claim WHERE claim_id = ?", (claim_id,)).fetchone()
    return of_claim(connection, claim)


def of_claim(connection, claim):
    meant = claim["meant_id"]
    shipment = connection.execute("SELECT * FROM shipment WHERE shipment_id = ?", (meant,)).fetchone()
    if shipment is None:
        return Case(claim, None, (), "", SPOT)
    pod = connection.execute("SELECT code FROM pod WHERE shipment_id = ?", (meant,)).fetchone()
    customer = connection.execute(
        "SELECT class FROM customer WHERE customer_id = ?", (shipment["customer_id"],)
    ).fetchone()
    return Case(
        claim,
        shipment,
        timeline(connection, meant),
        pod["code"] if pod else "",
        customer["class"] if customer else SPOT,
    )
