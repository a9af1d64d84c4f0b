"""The morning run: the compare as requested, and each query to the party that its reason code names."""

import argparse
from pathlib import Path

from recon import cashdiv, chase, load, positions, store
from recon.rules import rules


def run(day, drop, database, out):
    inforce = rules()
    connection = store.connect(database)
    with connection:
        positions.remember_trades(connection, drop)
        reasons = remembered_reasons(connection, drop)
        cashdiv.remember(connection, drop, day)
        found, compared = positions.differences(connection, drop, day)
        actions = [chase.for_position(connection, *line) for line in positions.aged(connection, found, compared)]
        actions = [
            one._replace(party=inforce.party(reasons.get(one.ref, ""))) if one.kind == "TRADE" else one for one in actions
        ]
        actions += [chase.for_dividend(*one) for one in cashdiv.short(connection, drop, day)]
        actions = chase.once(connection, day, actions)
    connection.close()
    chase.write(Path(out) / f"actions_{day}.csv", day, actions)
    return len(actions)


def remembered_reasons(connection, drop):
    """Trade → the latest reason that a custodian gave for it."""
    for stem, read in (("ngc_moves", load.ngc_moves), ("bdl_moves", load.bdl_moves)):
        for _, path in load.dated(drop, stem):
            rows = [(move.our_ref, 0, move.reason) for move in read(path) if move.our_ref and move.reason]
            connection.executemany("INSERT OR REPLACE INTO instruction VALUES (?,?,?,0)", rows)
    return dict(connection.execute("SELECT trade_id, reason FROM instruction"))


def main():
    parser = argparse.ArgumentParser(description="Compares holdings and routes by reason.")
    for name in ("date", "drop", "db", "out"):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    print(f"{asked.date}: {run(asked.date, asked.drop, asked.db, asked.out)} actions")


if __name__ == "__main__":
    main()
