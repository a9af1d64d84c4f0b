"""Times as whole minutes since 1 January 1970, the clocks of the sites, and the settings."""

import csv
import tomllib
from bisect import bisect_right
from datetime import datetime, timedelta
from pathlib import Path

CONFIG = Path(__file__).resolve().parent.parent / "config"
START = datetime(1970, 1, 1)
HOUR = 60
DAY = 24 * HOUR
NIGHT_FROM, NIGHT_UNTIL = 22 * HOUR, 7 * HOUR


def minute(text):
    """Minutes of ``2026-11-03T06:00`` (a wall clock's or, with a Z at the end, UTC's)."""
    since = datetime.fromisoformat(text.removesuffix("Z")) - START
    return since.days * DAY + since.seconds // 60


def stamp(minutes):
    """UTC as tables have it: ``2026-11-03T06:00Z``."""
    return f"{(START + timedelta(minutes=minutes)).isoformat(timespec='minutes')}Z"


def settings(name):
    with (CONFIG / f"{name}.toml").open("rb") as file:
        return tomllib.load(file)


class Clocks:
    """Wall clocks of the sites, by their transitions: rows of (site, instant in UTC, offset in minutes)."""

    def __init__(self, rows):
        self._since, self._offset = {}, {}
        for site, since, offset in sorted((site, minute(since), int(offset)) for site, since, offset in rows):
            self._since.setdefault(site, []).append(since)
            self._offset.setdefault(site, []).append(offset)

    def offset(self, site, at):
        """What the site's clocks show more than UTC at an instant."""
        return self._offset[site][max(0, bisect_right(self._since[site], at) - 1)]

    def instant(self, site, shown):
        """When the site's clocks show ``shown``: of an hour that comes twice the first, of one that is left out the next."""
        for offset in sorted(set(self._offset[site]), reverse=True):
            if self.offset(site, shown - offset) == offset:
                return shown - offset
        return shown - min(self._offset[site])

    def is_night(self, site, at):
        return not NIGHT_UNTIL <= (at + self.offset(site, at)) % DAY < NIGHT_FROM

    def edges(self, site, first, last):
        """Instants inside a window at which night begins or ends, or the clocks are changed."""
        shown = range((first + self.offset(site, first)) // DAY - 1, (last + self.offset(site, last)) // DAY + 2)
        found = {self.instant(site, day * DAY + clock) for day in shown for clock in (NIGHT_FROM, NIGHT_UNTIL)}
        return {edge for edge in (*found, *self._since[site]) if first < edge < last}


def shipped_transitions():
    """The table that came with this version; the feed brings a newer one every day."""
    with (CONFIG / "tz_transitions.csv").open(encoding="utf-8", newline="") as file:
        return [tuple(row) for row in csv.reader(file)][1:]
