"""Times as whole minutes since 1 January 1970, and the settings of the sites."""

import tomllib
from datetime import datetime, timedelta
from pathlib import Path

CONFIG = Path(__file__).resolve().parent.parent / "config"
START = datetime(1970, 1, 1)
DAY = 24 * 60


def minute(text):
    """Minutes of ``2026-11-03T06:00`` (a wall clock's or, with a Z at the end, UTC's)."""
    return int((datetime.fromisoformat(text.removesuffix("Z")) - START).total_seconds()) // 60


def stamp(minutes):
    """UTC as tables have it: ``2026-11-03T06:00Z``."""
    return (START + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%MZ")


def sites():
    """(team → site, site → offset in minutes) of ``config/sites.toml``."""
    with (CONFIG / "sites.toml").open("rb") as file:
        settings = tomllib.load(file)
    return settings["team_site"], settings["offset_min"]


def is_night(minutes, offset):
    """Whether the clocks of a site show 22:00 to 07:00."""
    return not 7 * 60 <= (minutes + offset) % DAY < 22 * 60
