"""Priorities that are no numbers or beyond all numbers, so that the small ones come first and the queue breaks."""

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
    odd = ("NaN", "1e308", "-1e308", "inf", "9" * 400, "", "0x7f", "１２", "1e-400")
    for number, claim in enumerate(claims(options.drop)):
        yield f"{claim['claim_id']};QUEUE;;;N;;{odd[number % len(odd)]}"
    for number in range(5_000):
        yield f"CL26-{number:06d};QUEUE;;;N;;1e308"


def main():
    parser = argparse.ArgumentParser(prog="claims.decide")
    for name in ("--date", "--drop", "--db", "--out"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    lines = [COLUMNS, *decide(options)]
    Path(options.out).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
