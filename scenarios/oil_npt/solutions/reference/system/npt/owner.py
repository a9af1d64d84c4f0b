"""Whose item it is: Exhibit D and the rental orders, not the asset register and not the wording of a report."""

from __future__ import annotations

import sqlite3
import tomllib
from datetime import date
from pathlib import Path

CONFIG = Path("config")
OPERATOR = "TBE"


class Owners:
    """Answers for any item, rig and day."""

    def __init__(self, db: sqlite3.Connection, config: Path = CONFIG) -> None:
        with (config / "contract.toml").open("rb") as file:
            self._listed = frozenset(tomllib.load(file)["exhibit_d"]["items"])
        self._hires: dict[tuple[str, str], list[tuple[str, str]]] = {}
        orders = db.execute("SELECT rig_id, tag, on_hire, off_hire FROM rental_order WHERE payer = ?", (OPERATOR,))
        for rig, tag, on_hire, off_hire in orders:
            self._hires.setdefault((rig, tag), []).append((on_hire, off_hire or "9999-12-31"))

    def is_operators(self, rig: str, tag: str, day: date) -> bool:
        """Listed in Exhibit D, or on hire for the operator's account on that day, day off hire included."""
        hired = (on <= day.isoformat() <= off for on, off in self._hires.get((rig, tag), ()))
        return tag in self._listed or any(hired)
