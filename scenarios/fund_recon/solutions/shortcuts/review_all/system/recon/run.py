"""The morning run: whatever cannot be ticked off is put before the analysts, once; nothing is queried."""

import argparse
from pathlib import Path

from recon import cashdiv, chase, income, instructions, matching, store
from recon.rules import rules


def run(day, drop, database, out):
    inforce = rules()
    connection = store.connect(database)
    with connection:
        instructions.remember_mornings(connection, drop, day)
        instructions.take_over(connection, drop)
        matching.take_over(connection, drop, inforce)
        cashdiv.remember(connection, drop, day)
        doubtful = [
            chase.Action("TRADE", one.trade_id, "REVIEW", "CUSTODIAN", one.amount, "no confirmation of its own")
            for one in instructions.due(connection, drop, day, inforce)
        ]
        doubtful += [
            chase.for_dividend(*one)._replace(action="REVIEW") for one in income.short(connection, drop, day, inforce)
        ]
        actions = chase.once(connection, day, doubtful)
    connection.close()
    chase.write(Path(out) / f"actions_{day}.csv", day, actions)
    return len(actions)


def main():
    parser = argparse.ArgumentParser(description="Puts what is open before the analysts.")
    for name in ("date", "drop", "db", "out"):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    print(f"{asked.date}: {run(asked.date, asked.drop, asked.db, asked.out)} actions")


if __name__ == "__main__":
    main()
