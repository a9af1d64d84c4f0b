"""Small words of the operators' pages."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import template

register = template.Library()


@register.filter
def since(later: datetime | None, earlier: datetime | None) -> timedelta | None:
    """The time between two moments; None where one is not there."""
    return later - earlier if later is not None and earlier is not None else None


@register.filter
def worker(lease_owner: str) -> str:
    """Of a lease's owner the process: what follows is of this one lease."""
    return lease_owner.rsplit("/", 1)[0] if lease_owner else "–"


@register.filter
def spaced(name: str) -> str:
    """``open_files`` as it is said."""
    return name.replace("_", " ")


@register.filter
def text(value: object) -> str:
    return str(value)
