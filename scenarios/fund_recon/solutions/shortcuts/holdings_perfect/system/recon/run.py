"""The morning run: every rule of the desks, for what the compare of holdings shows to be open."""

import argparse
from pathlib import Path

from recon import cashdiv, chase, income, instructions, matching, notes, positions, store
from recon.rules import rules


def run(day, drop, database, out):
    inforce = rules()
    connection = store.connect(database)
    with connection:
        instructions.remember_mornings(connection, drop, day)
        instructions.take_over(connection, drop)
        matching.take_over(connection, drop, inforce)
        cashdiv.remember(connection, drop, day)
        found, _ = positions.differences(connection, drop, day)
        queries = [
            chase.Action("TRADE", one.trade_id, "CHASE", inforce.party(one.reason), one.amount, notes.on_trade(one))
            for one in instructions.due(connection, drop, day, inforce)
            if (one.account, one.isin) in found
        ]
        queries += [chase.for_dividend(*one) for one in income.short(connection, drop, day, inforce)]
        actions = chase.once(connection, day, queries)
    connection.close()
    chase.write(Path(out) / f"actions_{day}.csv", day, actions)
    return len(actions)


def main():
    parser = argparse.ArgumentParser(description="Compares holdings and queries by the desks' rules.")
    for name in ("date", "drop", "db", "out"):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    print(f"{asked.date}: {run(asked.date, asked.drop, asked.db, asked.out)} actions")


if __name__ == "__main__":
    main()
