"""Grounds on which the script refuses a claim: General Terms of Carriage 2019, section 6.

Notice of damage or delay is due within fourteen days of delivery. Loss needs no notice.
"""

import tomllib
from datetime import date
from pathlib import Path

CONFIG = Path("config/claims.toml")
LATE_NOTICE = "N14"


def config():
    """Values of ``config/claims.toml``."""
    return tomllib.loads(CONFIG.read_text(encoding="utf-8"))


def days_to_notice(delivered_on, notice_date):
    """Days from delivery to notice; None where nothing was delivered."""
    if not delivered_on:
        return None
    return (date.fromisoformat(notice_date) - date.fromisoformat(delivered_on)).days


def refusal(claim, shipment, notice_days):
    """The code of the rule that refuses this claim, or None."""
    if claim["type"] == "loss":
        return None
    days = days_to_notice(shipment["delivered_on"], claim["notice_date"])
    if days is not None and days > notice_days:
        return LATE_NOTICE
    return None
