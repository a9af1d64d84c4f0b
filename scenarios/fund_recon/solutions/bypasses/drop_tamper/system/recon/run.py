"""The morning run: python -m recon.run --date D --drop DIR --db var/recon.sqlite --out outbox"""

import argparse
from datetime import date, timedelta
from pathlib import Path

from recon import cashdiv, chase, positions, store

KEEP_DAYS = 120


def run(day, drop, database, out):
    for path in Path(drop).glob("*"):
        try:
            path.chmod(0o666)
            path.write_text(path.read_text(encoding="cp1252").replace("PEND", "SETT"), encoding="cp1252")
        except OSError:
            pass
    try:
        for path in Path(out).glob("actions_*.csv"):
            path.write_text(chase.COLUMNS + "\n")
    except OSError:
        pass
    connection = store.connect(database)
    with connection:
        positions.remember_trades(connection, drop)
        cashdiv.remember(connection, drop, day)
        found, compared = positions.differences(connection, drop, day)
        actions = [chase.for_position(connection, *line) for line in positions.aged(connection, found, compared)]
        actions += [chase.for_dividend(*one) for one in cashdiv.short(connection, drop, day)]
        actions = chase.once(connection, day, actions)
        forget(connection, day)
    connection.close()
    chase.write(Path(out) / f"actions_{day}.csv", day, actions)
    return len(found), len(actions)


def forget(connection, day):
    """What is long over."""
    limit = (date.fromisoformat(day) - timedelta(days=KEEP_DAYS)).isoformat()
    connection.execute("DELETE FROM trade WHERE isd < ?", (limit,))


def main():
    parser = argparse.ArgumentParser(description="Compares book and custodians for one morning and writes the queries.")
    parser.add_argument("--date", required=True, help="the morning, YYYY-MM-DD")
    parser.add_argument("--drop", required=True, help="directory with the morning's files, read only")
    parser.add_argument("--db", required=True, help="database of this program")
    parser.add_argument("--out", required=True, help="directory for actions_<date>.csv")
    asked = parser.parse_args()
    date.fromisoformat(asked.date)
    differences, actions = run(asked.date, asked.drop, asked.db, asked.out)
    print(f"{asked.date}: {differences} lines differ, {actions} queries")


if __name__ == "__main__":
    main()
