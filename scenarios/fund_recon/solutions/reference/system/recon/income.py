"""Dividends that are really short: at the rates in force, after the days in which a payment is normal."""

import csv
from pathlib import Path

from recon import instructions, load

TOLERANCE = 1.0  # EUR
TABLE = Path(__file__).parent.parent / "config" / "wht_2026.csv"


def withholding():
    """Country → share withheld at source."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row["country"]: float(row["rate"]) for row in csv.DictReader(file)}


def short(connection, drop, day, rules):
    """(event, fund, difference) of what has to be claimed. Waits while the cash file is late."""
    if load.of_day(drop, "cash", day) is None:
        return []
    rates, found = withholding(), []
    due = connection.execute(
        "SELECT event_id, country, rate, comp FROM event WHERE pay_date <= ? AND checked = 0 ORDER BY event_id",
        (instructions.since(connection, day, rules.dividend_from_day),),
    ).fetchall()
    for event_id, country, rate, comp in due:
        for fund, account, holding in connection.execute(
            "SELECT fund, account, holding FROM entitlement WHERE event_id = ? ORDER BY fund", (event_id,)
        ).fetchall():
            expected = holding * rate * (1 - rates.get(country, 0.0))
            (received,) = connection.execute(
                "SELECT COALESCE(SUM(net), 0) FROM payment WHERE event_id = ? AND account = ?", (event_id, account)
            ).fetchone()
            compensated = rules.delorme_compensates_auto and comp == "AUTO" and account.startswith("BD-")
            if expected - received > TOLERANCE and not compensated:
                found.append((event_id, fund, round(expected - received, 2)))
        connection.execute("UPDATE event SET checked = 1 WHERE event_id = ?", (event_id,))
    return found
