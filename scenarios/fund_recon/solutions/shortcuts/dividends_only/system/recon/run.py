"""The morning run: the compare as it was, and dividends at the rates and with the patience that they need."""

import argparse
from pathlib import Path

from recon import cashdiv, chase, income, instructions, positions, store
from recon.rules import rules


def run(day, drop, database, out):
    connection = store.connect(database)
    with connection:
        instructions.remember_mornings(connection, drop, day)
        positions.remember_trades(connection, drop)
        cashdiv.remember(connection, drop, day)
        found, compared = positions.differences(connection, drop, day)
        actions = [chase.for_position(connection, *line) for line in positions.aged(connection, found, compared)]
        actions += [chase.for_dividend(*one) for one in income.short(connection, drop, day, rules())]
        actions = chase.once(connection, day, actions)
    connection.close()
    chase.write(Path(out) / f"actions_{day}.csv", day, actions)
    return len(actions)


def main():
    parser = argparse.ArgumentParser(description="Compares holdings and dividends.")
    for name in ("date", "drop", "db", "out"):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    print(f"{asked.date}: {run(asked.date, asked.drop, asked.db, asked.out)} actions")


if __name__ == "__main__":
    main()
