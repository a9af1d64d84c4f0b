"""Decide the claims of a morning.

    python -m claims.decide --date YYYY-MM-DD --drop DIR --db var/claims.sqlite --out decisions_YYYY-MM-DD.csv

What becomes of a new claim is in ``claims.policy``. Claims that wait are sorted anew (``claims.queue``). Every decision is kept
with what it rests on.
"""

import argparse
import csv
import json
import sys

from claims import case, load, policy, queue

COLUMNS = ("claim_id", "decision", "amount", "rule", "recourse", "haulier_id", "priority")


def keep(connection, one, today, decision, amount, rule):
    """The claim's state, and the audit trail: what the decision rests on."""
    claim = one.claim
    inputs = {
        "type": claim["type"], "claimed": claim["claimed_eur"], "evidence": claim["evidence"], "code": one.code,
        "notice": claim["notice_date"], "class": one.customer_class, "shipment": claim["meant_id"],
        "delivered": one.shipment["delivered_on"] if one.shipment else None,
        "weight": one.shipment["weight_kg"] if one.shipment else None,
    }
    connection.execute(
        "INSERT OR REPLACE INTO audit VALUES (?, ?, ?, ?, ?, ?)",
        (claim["claim_id"], today, decision, rule, amount, json.dumps(inputs, sort_keys=True)),
    )
    state = {"PAY": "paid", "REFUSE": "refused", "QUEUE": "open"}[decision]
    connection.execute("UPDATE claim SET state = ? WHERE claim_id = ?", (state, claim["claim_id"]))


def row(connection, one, today, decision, amount, rule, haulier):
    name = one.claim["claim_id"]
    if decision == "QUEUE":
        return (name, "QUEUE", "", rule, "N", "", f"{queue.priority(connection, one, today):.2f}")
    if decision == "REFUSE":
        return (name, "REFUSE", "", rule, "N", "", "")
    return (name, "PAY", f"{amount:.2f}", rule, "Y" if haulier else "N", haulier, "")


def run(drop, database, out, today):
    """Decide everything new in ``drop`` and sort what waits; returns the number of rows written."""
    connection = load.connect(database)
    try:
        with connection:
            new = load.load(drop, connection)
            rows, decided = [], set(new)
            for claim_id in new:
                one = case.read(connection, claim_id)
                decision, amount, rule, haulier = policy.decide(connection, one, today)
                keep(connection, one, today, decision, amount, rule)
                rows.append(row(connection, one, today, decision, amount, rule, haulier))
            for claim in connection.execute("SELECT * FROM claim WHERE state = 'open' ORDER BY claim_id").fetchall():
                if claim["claim_id"] not in decided:
                    one = case.of_claim(connection, claim)
                    rows.append(row(connection, one, today, "QUEUE", 0.0, "", ""))
    finally:
        connection.close()
    with open(out, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    return len(rows)


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="claims.decide", description="Decide the claims of a morning.")
    parser.add_argument("--date", required=True, help="YYYY-MM-DD")
    parser.add_argument("--drop", required=True, help="folder with the morning's files")
    parser.add_argument("--db", required=True, help="database file")
    parser.add_argument("--out", required=True, help="file for the decisions")
    options = parser.parse_args(arguments)
    try:
        written = run(options.drop, options.db, options.out, options.date)
    except (OSError, ValueError) as problem:
        print(f"decide: {problem}. Nothing was decided.", file=sys.stderr)
        return 1
    print(f"{written} decisions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
