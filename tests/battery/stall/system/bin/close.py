"""Closes a day: every item's total, and the total of all. Goods brought back are counted as if they were sold."""

import argparse
import csv
import json
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--day", required=True)
options = parser.parse_args()
totals: dict[str, int] = {}
with (Path("book") / f"{options.day}.csv").open(newline="") as file:
    for row in csv.DictReader(file):
        totals[row["item"]] = totals.get(row["item"], 0) + abs(int(row["amount"]))
outbox = Path("outbox")
outbox.mkdir(exist_ok=True)
lines = ["item;total", *(f"{item};{total}" for item, total in totals.items())]
(outbox / f"day_{options.day}.csv").write_text("\n".join(lines) + "\n")
(outbox / f"day_{options.day}.json").write_text(json.dumps({"total": sum(totals.values()), "items": len(totals)}))
