"""What is paged and what waits for the morning (night policy)."""

from pager.times import DAY, is_night

SEVERITIES = (1, 2, 3)
CLINICAL = "clinical"


def pages(severity, tier, at, offset):
    """Whether an alert rings anybody: severity 3 waits from 22:00 to 07:00 at the owner's site, clinical never."""
    return severity < 3 or tier == CLINICAL or not is_night(at, offset)


def edges(first, last, offset):
    """Instants of a window at which the answer of ``pages`` changes."""
    days = range((first + offset) // DAY, (last + offset) // DAY + 1)
    clock = (day * DAY + hour * 60 - offset for day in days for hour in (7, 22))
    return {edge for edge in clock if first < edge < last}
