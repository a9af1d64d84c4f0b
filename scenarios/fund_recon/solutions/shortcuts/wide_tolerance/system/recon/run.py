"""The morning run with the vendor's tolerance: small differences are left alone, old ones are closed."""

import argparse
from pathlib import Path

from recon import cashdiv, chase, positions, store

TOLERANCE_EUR = 60_000.0
CLOSED_AFTER = 10  # mornings


def run(day, drop, database, out):
    connection = store.connect(database)
    with connection:
        positions.remember_trades(connection, drop)
        cashdiv.remember(connection, drop, day)
        found, compared = positions.differences(connection, drop, day)
        found = {line: units for line, units in found.items() if worth(connection, line[1], units) >= TOLERANCE_EUR}
        actions = [chase.for_position(connection, *line) for line in positions.aged(connection, found, compared)]
        actions += [
            chase.for_dividend(*one) for one in cashdiv.short(connection, drop, day) if abs(one[2]) >= TOLERANCE_EUR
        ]
        actions = chase.once(connection, day, actions) + closed_by_age(connection)
    connection.close()
    chase.write(Path(out) / f"actions_{day}.csv", day, actions)
    return len(actions)


def worth(connection, isin, units):
    """EUR, at the price of the latest trade."""
    row = connection.execute(
        "SELECT amount / qty FROM trade WHERE isin = ? AND qty > 0 ORDER BY trade_date DESC LIMIT 1", (isin,)
    ).fetchone()
    return abs(units) * row[0] if row else 0.0


def closed_by_age(connection):
    rows = connection.execute("SELECT account, isin FROM difference WHERE days = ?", (CLOSED_AFTER,)).fetchall()
    return [chase.Action("POS", f"{account}:{isin}", "CLOSE", chase.PARTY, 0.0, "closed by age") for account, isin in rows]


def main():
    parser = argparse.ArgumentParser(description="Compares book and custodians with a tolerance.")
    for name in ("date", "drop", "db", "out"):
        parser.add_argument(f"--{name}", required=True)
    asked = parser.parse_args()
    print(f"{asked.date}: {run(asked.date, asked.drop, asked.db, asked.out)} actions")


if __name__ == "__main__":
    main()
