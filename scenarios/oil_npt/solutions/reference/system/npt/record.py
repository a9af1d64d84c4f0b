"""The daily reports that bind both sides, as lines in field time and metres.

A report may be issued again and again. The record is the latest revision that both sides signed, or the first one if
they signed none; a later revision with one signature is not the record.
"""

from __future__ import annotations

import sqlite3
import tomllib
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

CONFIG = Path("config")
METRES_PER_FOOT = 0.3048

BINDING = {
    "last_joint": "COALESCE(MAX(CASE WHEN joint THEN rev END), MIN(rev))",
    "first": "MIN(rev)",
    "newest": "MAX(rev)",
}


@dataclass(frozen=True)
class Line:
    """A line of a binding report. ``bit_depth_m`` is the depth at its end."""

    rig: str
    report_id: str
    start: datetime
    end: datetime
    op_code: int
    sub_code: str
    bit_depth_m: float
    remark: str


@dataclass(frozen=True)
class Feed:
    """How a contractor's reporting tool writes: how far it is behind field time, and metres per unit of depth."""

    contractors: frozenset[str]
    since: date
    behind: timedelta
    metres_per_unit: float


FIELD = Feed(frozenset(), date.min, timedelta(), 1.0)


class Record:
    """Reads binding reports from the store."""

    def __init__(self, db: sqlite3.Connection, config: Path = CONFIG) -> None:
        self._db = db
        self._binding = BINDING[_settings(config / "record.toml")["binding"]]
        self._feeds = [
            Feed(
                frozenset(row["contractors"]),
                row["since"],
                timedelta(hours=row["hours_behind_field_time"]),
                METRES_PER_FOOT if row["depth_in_feet"] else 1.0,
            )
            for row in _settings(config / "tools.toml").get("tool", [])
        ]

    def rigs(self) -> list[str]:
        return [rig for (rig,) in self._db.execute("SELECT DISTINCT rig_id FROM report ORDER BY rig_id")]

    def revisions(self, rig: str, first: date, after: date) -> dict[str, int]:
        """Report id → binding revision, for the report dates from ``first`` to before ``after``."""
        query = f"""
            SELECT report_id, {self._binding} FROM report
            WHERE rig_id = ? AND report_date >= ? AND report_date < ? GROUP BY report_id
        """  # noqa: S608 - one of the constants above
        return dict(self._db.execute(query, (rig, first.isoformat(), after.isoformat())))

    def lines(self, rig: str, first: date, after: date) -> list[Line]:
        """The lines of those report dates in time order, each once."""
        found = []
        for report_id, rev in self.revisions(rig, first, after).items():
            day = date.fromisoformat(report_id.split("/")[1])
            feed = self._feed(rig, day)
            rows = self._db.execute(
                "SELECT t_from, t_to, op_code, sub_code, bit_depth_m, remark FROM report_line"
                " WHERE report_id = ? AND rev = ? ORDER BY seq",
                (report_id, rev),
            )
            found += [
                Line(
                    rig,
                    report_id,
                    _moment(day, t_from) + feed.behind,
                    _moment(day, t_to) + feed.behind,
                    op_code,
                    sub_code,
                    bit_depth * feed.metres_per_unit,
                    remark,
                )
                for t_from, t_to, op_code, sub_code, bit_depth, remark in rows
            ]
        return sorted(found, key=lambda line: line.start)

    def evidence(self, rig: str, start: datetime, end: datetime) -> list[str]:
        """``report_id@rev`` of each report that the window touches."""
        behind = self._feed(rig, start.date()).behind
        first = (start - behind).date()
        after = (end - behind - timedelta(minutes=1)).date() + timedelta(days=1)
        return [f"{report_id}@{rev}" for report_id, rev in sorted(self.revisions(rig, first, after).items())]

    def _feed(self, rig: str, day: date) -> Feed:
        mine = [feed for feed in self._feeds if rig.split("-")[0] in feed.contractors and feed.since <= day]
        return mine[-1] if mine else FIELD


def _settings(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return tomllib.load(file)


def _moment(day: date, clock: str) -> datetime:
    """``24:00`` is the end of the day."""
    hours, minutes = clock.split(":")
    return datetime(day.year, day.month, day.day) + timedelta(hours=int(hours), minutes=int(minutes))
