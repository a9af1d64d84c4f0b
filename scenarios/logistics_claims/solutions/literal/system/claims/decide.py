"""Decide the claims of a morning.

    python -m claims.decide --date YYYY-MM-DD --drop DIR --db var/claims.sqlite --out decisions_YYYY-MM-DD.csv

Claims up to 150 EUR are approved and paid in full. Of the others small ones on shipments that we drove ourselves are paid as
claimed, or refused for late notice, and the rest goes to the assessors, the largest first.
"""

import argparse
import csv
import sys

from claims import load, rules

COLUMNS = ("claim_id", "decision", "amount", "rule", "recourse", "haulier_id", "priority")
OWN = "own"
AT_ONCE_EUR = 150.0
AT_ONCE = "SMALL-150"


def driven_by_us(connection, shipment_id):
    """Whether no leg of the shipment was a haulier's."""
    found = connection.execute(
        "SELECT 1 FROM scan WHERE shipment_id = ? AND carrier <> ? LIMIT 1", (shipment_id, OWN)
    ).fetchone()
    return found is None


def decide(connection, claim, values):
    """One row of the output for a claim."""
    amount = claim["claimed_eur"]
    if amount <= AT_ONCE_EUR:
        return (claim["claim_id"], "PAY", f"{amount:.2f}", AT_ONCE, "N", "", "")
    shipment = connection.execute("SELECT * FROM shipment WHERE shipment_id = ?", (claim["shipment_id"],)).fetchone()
    small = amount <= values["auto_limit_eur"]
    if shipment is None or not small or not driven_by_us(connection, claim["shipment_id"]):
        return (claim["claim_id"], "QUEUE", "", "", "N", "", f"{amount:.2f}")
    rule = rules.refusal(claim, shipment, values["notice_days"])
    if rule is not None:
        return (claim["claim_id"], "REFUSE", "", rule, "N", "", "")
    return (claim["claim_id"], "PAY", f"{amount:.2f}", "", "N", "", "")


def run(drop, database, out):
    """Decide everything new in ``drop``; returns the number of rows written."""
    values = rules.config()
    connection = load.connect(database)
    try:
        with connection:
            rows = []
            for claim_id in load.load(drop, connection):
                claim = connection.execute("SELECT * FROM claim WHERE claim_id = ?", (claim_id,)).fetchone()
                row = decide(connection, claim, values)
                state = {"QUEUE": "queued", "PAY": "paid", "REFUSE": "refused"}[row[1]]
                connection.execute("UPDATE claim SET state = ? WHERE claim_id = ?", (state, claim_id))
                rows.append(row)
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
        written = run(options.drop, options.db, options.out)
    except (OSError, ValueError) as problem:
        print(f"decide: {problem}. Nothing was decided.", file=sys.stderr)
        return 1
    print(f"{written} decisions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
