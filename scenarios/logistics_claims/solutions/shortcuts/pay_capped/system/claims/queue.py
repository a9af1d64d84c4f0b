"""In which order the assessors get what people have to decide: the oldest first."""

from datetime import date


def priority(connection, one, today):
    """Days since receipt."""
    return float((date.fromisoformat(today) - date.fromisoformat(one.claim["received"])).days)
