"""What is paged and what waits for the morning (night policy)."""

SEVERITIES = (1, 2, 3)
CLINICAL = "clinical"


def pages(severity, tier, at_night):
    """Whether an alert rings anybody: severity 3 waits while it is night at the owner's site, clinical never."""
    return severity < 3 or tier == CLINICAL or not at_night
