"""python -m bakeplan.plan --morning 2026-09-15 --drop DIR: writes out/sheet_<morning>.csv."""

import argparse
from pathlib import Path

from bakeplan import books


def ordered(standing, messages, rules):
    """What the shop said first, at whatever hour."""
    return int(messages[0]["pieces"]) if messages else standing


def pieces(quantity, per_hundred):
    return (quantity * per_hundred + 50) // 100


def sheet(drop, morning):
    """(shop, product, pieces) of the morning."""
    rules, per_hundred = books.config("late.toml"), books.config("send.toml")["per_hundred"]
    changed = books.messages(drop, morning)
    agreement = {row["shop"]: row["agreement"] for row in books.rows(drop, "shops.csv")}
    for (shop, product), usual in books.standing(drop).items():
        quantity = ordered(usual, changed.get((shop, product), []), rules)
        yield shop, product, pieces(quantity, per_hundred[agreement[shop]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--morning", required=True)
    parser.add_argument("--drop", required=True)
    options = parser.parse_args()
    lines = [f"{shop},{product},{number}\n" for shop, product, number in sheet(options.drop, options.morning)]
    out = Path("out")
    out.mkdir(exist_ok=True)
    (out / f"sheet_{options.morning}.csv").write_text("".join(["shop,product,pieces\n", *lines]), encoding="ascii")


if __name__ == "__main__":
    main()
