"""Grounds of refusal, terms of 2025 with what the customers' agreements change, in the order in which they are tried.

=========  ==============================================================================
``TWICE``  the shipment has been settled, or an earlier claim for it is open (5.3)
``FOUND``  lost goods were found or delivered (5.2)
``PK2``    damage, packing noted as insufficient at pick-up (5.1)
``RETURN`` damage, goods refused at the door and brought back (only where a code says so)
``LATE``   damage not noted on delivery, told after the period of the customer's class (3.1)
``DELAY``  delay told late (3.2)
=========  ==============================================================================
"""

import csv
import functools
import tomllib
from datetime import date, timedelta
from pathlib import Path

CONFIG = Path("config/claims.toml")
SUNDAY = 6


@functools.cache
def config():
    """Values of ``config/claims.toml``."""
    return tomllib.loads(CONFIG.read_text(encoding="utf-8"))


@functools.cache
def holidays():
    """(country, date) of every public holiday."""
    with open("data/holidays.csv", encoding="utf-8", newline="") as file:
        return {(row["country"], row["date"]) for row in csv.DictReader(file)}


def counted_days(country, delivered_on, notice_date):
    """Days after delivery up to the notice, Sundays and holidays of the country of delivery left out."""
    first, last = date.fromisoformat(delivered_on), date.fromisoformat(notice_date)
    days = (first + timedelta(days=number) for number in range(1, (last - first).days + 1))
    return sum(day.weekday() != SUNDAY and (country, day.isoformat()) not in holidays() for day in days)


def all_days(delivered_on, notice_date):
    return (date.fromisoformat(notice_date) - date.fromisoformat(delivered_on)).days


def earlier_claim(connection, claim):
    """An earlier claim for the same shipment that was paid or is open; None if there is none."""
    return connection.execute(
        "SELECT claim_id FROM claim WHERE meant_id = ? AND state IN ('paid', 'open')"
        " AND (received < ? OR (received = ? AND claim_id < ?)) ORDER BY received, claim_id LIMIT 1",
        (claim["meant_id"], claim["received"], claim["received"], claim["claim_id"]),
    ).fetchone()


def refusal(connection, case, country):
    """The code of the first rule that refuses this claim, or None. ``country`` is that of delivery."""
    values, claim = config(), case.claim
    if earlier_claim(connection, claim) is not None:
        return "TWICE"
    kind, delivered_on = claim["type"], case.shipment["delivered_on"]
    if kind == "loss":
        return "FOUND" if case.has("FND", "DLV") else None
    if kind == "delay":
        late = delivered_on and all_days(delivered_on, claim["notice_date"]) > values["delay_notice_days"]
        return "DELAY" if late else None
    if case.shipment["pickup_flag"] == "PK2":
        return "PK2"
    if case.code and case.code == values["reserved_code"]:
        return "RETURN"
    if (case.code and case.code == values["returned_code"]) or not delivered_on:
        return None
    days = counted_days(country, delivered_on, claim["notice_date"])
    return "LATE" if days > values["notice_days"].get(case.customer_class, days) else None
