"""What the evening brings: messages, standing orders, shops."""

import csv
import tomllib
from pathlib import Path


def rows(drop, name):
    with (Path(drop) / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def standing(drop):
    """(shop, product) -> pieces."""
    return {(row["shop"], row["product"]): int(row["pieces"]) for row in rows(drop, "standing.csv")}


def messages(drop, morning):
    """(shop, product) -> messages of the morning, by arrival."""
    found = {}
    for row in rows(drop, "orders.csv"):
        if row["morning"] == morning:
            found.setdefault((row["shop"], row["product"]), []).append(row)
    return found


def config(name):
    return tomllib.loads((Path("config") / name).read_text(encoding="utf-8"))
