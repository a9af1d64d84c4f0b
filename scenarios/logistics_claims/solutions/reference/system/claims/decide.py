"""Decide the claims of a morning.

    python -m claims.decide --date YYYY-MM-DD --drop DIR --db var/claims.sqlite --out decisions_YYYY-MM-DD.csv

Each new claim is refused on the first ground that holds (``claims.rules``), handed to the assessors if its evidence is
inconclusive or more is owed than the mandate, and otherwise paid what is owed (``claims.amounts``), with a letter to the haulier
where one can be charged (``claims.recourse``). Claims that wait are sorted anew. Every decision is kept with what it rests on.
"""

import argparse
import csv
import json
import sys

from claims import amounts, case, load, queue, recourse, rules

COLUMNS = ("claim_id", "decision", "amount", "rule", "recourse", "haulier_id", "priority")
OWED = "OWED"


def decide(connection, one, today):
    """(decision, amount, rule, haulier) for a case."""
    if one.shipment is None:
        return "QUEUE", 0.0, "UNKNOWN", ""
    depot = case.depots().get(one.shipment["destination"])
    ground = rules.refusal(connection, one, depot["country"] if depot else "")
    if ground is not None:
        return "REFUSE", 0.0, ground, ""
    if one.doubtful:
        return "QUEUE", 0.0, "P1", ""
    owed = amounts.payable(connection, one)
    if owed is None or owed <= 0:
        return "QUEUE", 0.0, "WEIGHT", ""
    if owed > rules.config()["mandate_eur"]:
        return "QUEUE", 0.0, "MANDATE", ""
    return "PAY", owed, OWED, recourse.letter_to(one, today)


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
                decision, amount, rule, haulier = decide(connection, one, today)
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
