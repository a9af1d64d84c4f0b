"""Time at Lumenfold: minutes of UTC since Monday 15 June 2026, and the local clocks of its three sites."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from scenarios.kit.tables import csv_bytes

EPOCH = datetime(2026, 6, 15)
HOUR = 60
DAY = 24 * HOUR
WEEK = 7 * DAY

VISIBLE = (0, 105 * DAY)  #: what the workspace shows: 15 June to 27 September 2026
SHADOW = (105 * DAY, 112 * DAY)  #: 28 September to 4 October: trials, and the warm-up of a replay
HELD_OUT = (112 * DAY, 224 * DAY)  #: 5 October 2026 to 24 January 2027
STEP = 3 * HOUR  #: between two compiles
SWAPPED_IN = 5  #: minutes after a compile's --asof at which the gateway takes its table

SITES = {"Lisbon": "Europe/Lisbon", "Toronto": "America/Toronto", "Singapore": "Asia/Singapore"}
LISBON = "Lisbon"

#: site → (instant from which it holds, offset in minutes), in order; summer time of 2026 and the winter around it
_TRANSITIONS = {
    "Lisbon": (
        ("2025-10-26T01:00", 0),
        ("2026-03-29T01:00", 60),
        ("2026-10-25T01:00", 0),
        ("2027-03-28T01:00", 60),
    ),
    "Toronto": (
        ("2025-11-02T06:00", -300),
        ("2026-03-08T07:00", -240),
        ("2026-11-01T06:00", -300),
        ("2027-03-14T07:00", -240),
    ),
    "Singapore": (("2025-10-26T00:00", 480),),
}


def minute(moment: datetime) -> int:
    """Minutes since the epoch of a naive UTC (or, for a wall clock, local) time; seconds do not occur."""
    return int((moment - EPOCH).total_seconds()) // 60


def moment(minutes: int) -> datetime:
    return EPOCH + timedelta(minutes=minutes)


def day_of(minutes: int) -> date:
    return moment(minutes).date()


def stamp(minutes: int) -> str:
    """``2026-11-03T06:00Z``"""
    return f"{moment(minutes).isoformat(timespec='minutes')}Z"


def wall(minutes: int) -> str:
    """``2026-11-03T06:00``, without a zone."""
    return moment(minutes).isoformat(timespec="minutes")


_SINCE = {site: [minute(datetime.fromisoformat(since)) for since, _ in rows] for site, rows in _TRANSITIONS.items()}
_OFFSET = {site: [offset for _, offset in rows] for site, rows in _TRANSITIONS.items()}


def offset(site: str, at: int) -> int:
    """What the site's clocks show more than UTC, minutes."""
    return _OFFSET[site][bisect_right(_SINCE[site], at) - 1]


def local(site: str, at: int) -> int:
    return at + offset(site, at)


def from_wall(site: str, shown: int) -> int:
    """The instant at which the site's clocks show ``shown``; of an hour that comes twice the first."""
    return next(at for extra in sorted(set(_OFFSET[site]), reverse=True) if local(site, at := shown - extra) == shown)


def is_night(site: str, at: int) -> bool:
    """22:00 to 07:00 at the site."""
    hour = local(site, at) // HOUR % 24
    return hour >= 22 or hour < 7


def transitions_csv() -> bytes:
    rows = [(site, f"{since}Z", offset) for site, found in _TRANSITIONS.items() for since, offset in found]
    return csv_bytes(("site", "utc_from", "offset_min"), rows)


@lru_cache(maxsize=4_096)
def from_stamp(text: str) -> int:
    """Minutes since the epoch of ``2026-11-03T06:00Z``. Raises ``ValueError`` for anything else."""
    found = datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)
    return minute(found.replace(tzinfo=None))
