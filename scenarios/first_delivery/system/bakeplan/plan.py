"""python -m bakeplan.plan --morning 2026-09-15 --drop DIR: writes out/sheet_<morning>.csv."""

import argparse
from pathlib import Path

from bakeplan import books


def ordered(standing, messages):
    """What a shop wants: its newest message, or else its standing order."""
    return int(messages[-1]["pieces"]) if messages else standing


def pieces(quantity, per_hundred):
    return (quantity * per_hundred + 50) // 100


def sheet(drop, morning):
    """(shop, product, pieces) of the morning."""
    per_hundred = books.config("send.toml")["per_hundred"]
    changed = books.messages(drop, morning)
    for (shop, product), usual in books.standing(drop).items():
        quantity = ordered(usual, changed.get((shop, product), []))
        yield shop, product, pieces(quantity, per_hundred)


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
