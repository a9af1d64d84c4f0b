"""Dividend check: net received against holding, rate and withholding table, on the first day after the pay date."""

import csv
from pathlib import Path

from recon import load

TOLERANCE = 1.0  # EUR
TABLE = Path(__file__).parent.parent / "config" / "wht_2024.csv"


def withholding():
    """Country → share withheld."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row["country"]: float(row["rate"]) for row in csv.DictReader(file)}


def remember(connection, drop, day):
    """Take over events and payments, and on an ex date the holdings that are entitled: the book's of the close before."""
    for _, path in load.dated(drop, "events"):
        connection.executemany(
            "INSERT OR IGNORE INTO event VALUES (?,?,?,?,?,?,?,0)", load.events(path)
        )
    for _, path in load.dated(drop, "cash"):
        rows = [(one.event_id, one.account, one.net, one.value_date) for one in load.cash(path)]
        connection.executemany("INSERT INTO payment VALUES (?,?,?,?)", rows)
    going_ex = dict(connection.execute("SELECT isin, event_id FROM event WHERE ex_date = ?", (day,)))
    book = load.of_day(drop, "book_positions", day) if going_ex else None
    if book is not None:
        rows = [
            (going_ex[row.isin], row.fund, row.account, row.qty) for row in load.book_positions(book) if row.isin in going_ex
        ]
        connection.executemany("INSERT OR REPLACE INTO entitlement VALUES (?,?,?,?)", rows)


def short(connection, drop, day):
    """(event, fund, difference) of what was not paid as expected. Waits while the cash file is late."""
    if load.of_day(drop, "cash", day) is None:
        return []
    rates, found = withholding(), []
    due = connection.execute(
        "SELECT event_id, country, rate FROM event WHERE pay_date < ? AND checked = 0 ORDER BY event_id", (day,)
    ).fetchall()
    for event_id, country, rate in due:
        for fund, account, holding in connection.execute(
            "SELECT fund, account, holding FROM entitlement WHERE event_id = ? ORDER BY fund", (event_id,)
        ).fetchall():
            expected = holding * rate * (1 - rates.get(country, 0.0))
            (received,) = connection.execute(
                "SELECT COALESCE(SUM(net), 0) FROM payment WHERE event_id = ? AND account = ?", (event_id, account)
            ).fetchone()
            if abs(expected - received) > TOLERANCE:
                found.append((event_id, fund, round(expected - received, 2)))
        connection.execute("UPDATE event SET checked = 1 WHERE event_id = ?", (event_id,))
    return found
