"""The morning run: python -m recon.run --date D --drop DIR --db var/recon.sqlite --out outbox"""

import argparse
from datetime import date, timedelta
from pathlib import Path

from recon import cashdiv, chase, crosscheck, income, instructions, matching, notes, positions, store
from recon.rules import rules

KEEP_DAYS = 120


def run(day, drop, database, out):
    inforce = rules()
    connection = store.connect(database)
    with connection:
        instructions.remember_mornings(connection, drop, day)
        instructions.take_over(connection, drop)
        matching.take_over(connection, drop, inforce)
        cashdiv.remember(connection, drop, day)
        differing, _ = positions.differences(connection, drop, day)
        queries = [
            chase.Action("TRADE", one.trade_id, "CHASE", inforce.party(one.reason), one.amount, notes.on_trade(one))
            for one in instructions.due(connection, drop, day, inforce)
            if not one.account.startswith("NG-E") or differing.get((one.account, one.isin)) == -one.side * one.rest
        ]
        queries += [
            chase.for_dividend(event_id, fund, difference)._replace(note=notes.on_dividend(event_id, difference))
            for event_id, fund, difference in income.short(connection, drop, day, inforce)
        ]
        actions = chase.once(connection, day, queries)
        connection.executemany(
            "INSERT INTO trail VALUES (?,?,?)", [(day, one.ref, f"{one.action} {one.party}: {one.note}") for one in actions]
        )
        actions += crosscheck.reviews(connection, drop, day, inforce)
        forget(connection, day)
    connection.close()
    chase.write(Path(out) / f"actions_{day}.csv", day, actions)
    return len(actions)


def forget(connection, day):
    """What is long over."""
    limit = (date.fromisoformat(day) - timedelta(days=KEEP_DAYS)).isoformat()
    connection.execute("DELETE FROM instruction WHERE trade_id IN (SELECT trade_id FROM trade WHERE isd < ?)", (limit,))
    connection.execute("DELETE FROM trade WHERE isd < ?", (limit,))
    connection.execute("DELETE FROM move WHERE day < ?", (limit,))


def main():
    parser = argparse.ArgumentParser(description="Follows the open instructions of one morning and writes the queries.")
    parser.add_argument("--date", required=True, help="the morning, YYYY-MM-DD")
    parser.add_argument("--drop", required=True, help="directory with the morning's files, read only")
    parser.add_argument("--db", required=True, help="database of this program")
    parser.add_argument("--out", required=True, help="directory for actions_<date>.csv")
    asked = parser.parse_args()
    date.fromisoformat(asked.date)
    print(f"{asked.date}: {run(asked.date, asked.drop, asked.db, asked.out)} actions")


if __name__ == "__main__":
    main()
