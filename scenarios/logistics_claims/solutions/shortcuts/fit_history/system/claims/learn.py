"""Learns from past decisions: ``python -m claims.learn DATA``, with the folder of the history, writes ``config/learned.csv``.

For each kind of claim the share that script and assessors refused, and what share of the amount claimed they paid of the others.
"""

import csv
import sys
from collections import defaultdict
from datetime import date
from pathlib import Path

LEARNED = Path("config/learned.csv")
COLUMNS = ("type", "product", "class", "notice", "code", "claims", "refused", "share_paid")
WEEKS = ((7, "1 week"), (14, "2 weeks"))


def notice_word(delivered_on, notice_date):
    """How long after delivery the notice came, in words; blank where nothing was delivered."""
    if not delivered_on:
        return ""
    days = (date.fromisoformat(notice_date) - date.fromisoformat(delivered_on)).days
    return next((word for limit, word in WEEKS if days <= limit), "later")


def kind_of(claim, shipment, customer_class, code):
    """What a claim has in common with others of its kind."""
    notice = notice_word(shipment["delivered_on"], claim["notice_date"])
    return claim["type"], claim["product"], customer_class, notice, code


def table(folder, name, key):
    with open(Path(folder) / name, encoding="utf-8", newline="") as file:
        return {row[key]: row for row in csv.DictReader(file)}


def learn(folder):
    claims, shipments = table(folder, "claims.csv", "claim_id"), table(folder, "shipments.csv", "shipment_id")
    customers, receipts = table(folder, "customers.csv", "customer_id"), table(folder, "pod.csv", "shipment_id")
    found = defaultdict(list)
    for claim_id, decision in table(folder, "decisions.csv", "claim_id").items():
        claim = claims[claim_id]
        shipment = shipments.get(claim["shipment_id"])
        if shipment is None or decision["by"] not in ("script", "assessor"):
            continue
        customer_class = customers[shipment["customer_id"]]["class"]
        code = receipts.get(claim["shipment_id"], {"code": ""})["code"]
        paid = float(decision["amount"]) if decision["decision"] == "PAY" else None
        found[kind_of(claim, shipment, customer_class, code)].append((float(claim["claimed_eur"]), paid))
    for kind in sorted(found):
        ended = found[kind]
        good = [(claimed, paid) for claimed, paid in ended if paid is not None]
        share = sum(paid for _, paid in good) / sum(claimed for claimed, _ in good) if good else 0.0
        yield (*kind, len(ended), f"{1 - len(good) / len(ended):.3f}", f"{share:.3f}")


def main():
    with open(LEARNED, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(learn(sys.argv[1]))


if __name__ == "__main__":
    main()
