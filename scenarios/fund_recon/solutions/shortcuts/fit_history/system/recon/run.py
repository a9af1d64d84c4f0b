"""The morning run: differences as ever, queried where past queries on the like were settled, with who settled them."""

import argparse
import tomllib
from pathlib import Path

from recon import chase, load, positions, store
from recon.learn import KIND, LEARNED


def run(day, drop, database, out):
    learned = tomllib.loads(LEARNED.read_text(encoding="utf-8"))
    connection = store.connect(database)
    with connection:
        connection.execute("CREATE TABLE IF NOT EXISTS reason (ref TEXT PRIMARY KEY, code TEXT)")
        positions.remember_trades(connection, drop)
        remember_reasons(connection, drop)
        found, compared = positions.differences(connection, drop, day)
        likely = [line for line in positions.aged(connection, found, compared) if line[0][:KIND] in learned["kinds"]]
        actions = [chase.for_position(connection, *line) for line in likely]
        actions = [
            one._replace(party=party_of(connection, one.ref, learned["party"]))
            for one in actions
            if one.kind == "TRADE" and overdue(connection, one.ref, day)
        ]
        actions = chase.once(connection, day, actions)
    connection.close()
    chase.write(Path(out) / f"actions_{day}.csv", day, actions)
    return len(actions)


def remember_reasons(connection, drop):
    for stem, read in (("ngc_moves", load.ngc_moves), ("bdl_moves", load.bdl_moves)):
        for _, path in load.dated(drop, stem):
            rows = [(move.our_ref, move.reason) for move in read(path) if move.our_ref and move.reason]
            connection.executemany("INSERT OR REPLACE INTO reason VALUES (?,?)", rows)


def overdue(connection, ref, day):
    return connection.execute("SELECT isd < ? FROM trade WHERE trade_id = ?", (day, ref)).fetchone()[0]


def party_of(connection, ref, parties):
    row = connection.execute("SELECT code FROM reason WHERE ref = ?", (ref,)).fetchone()
    return parties.get(row[0] if row else "unknown", parties["unknown"])


def main():
    parser = argparse.ArgumentParser(description="Compares holdings and queries what used to pay off.")
    for name in ("date", "drop", "db", "out"):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    print(f"{asked.date}: {run(asked.date, asked.drop, asked.db, asked.out)} actions")


if __name__ == "__main__":
    main()
