"""How figures are written on every page: a sign, a true minus, the unit. One place, so that no two pages differ."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from scenarios.kit.format import Kpi

register = template.Library()

MINUS = "\N{MINUS SIGN}"
THIN_SPACE = "\N{NARROW NO-BREAK SPACE}"
NOTHING = "–"
Figure = Decimal | float | int | str | None


def _decimal(value: Figure) -> Decimal | None:
    if value is None or value == "" or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return Decimal(str(value))


def _rounded(value: Decimal, decimals: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_EVEN)


@register.filter
def plain(value: Figure, decimals: int = 0) -> str:
    """Grouped by thousands, true minus, no sign on positive numbers."""
    number = _decimal(value)
    if number is None:
        return NOTHING
    rounded = _rounded(number, decimals)
    return f"{MINUS if rounded < 0 else ''}{abs(rounded):,f}"


@register.filter
def signed(value: Figure, decimals: int = 2) -> str:
    """S and U: ``+0.93``, ``−0.12``, ``0.00`` (zero has no sign, and nothing rounds to minus zero)."""
    number = _decimal(value)
    if number is None:
        return NOTHING
    rounded = _rounded(number, decimals)
    sign = "+" if rounded > 0 else MINUS if rounded < 0 else ""
    return f"{sign}{abs(rounded):,f}"


@register.filter
def taken(value: Figure) -> str:
    """C where it stands beside U and S: with their sign and their two decimals. Single charges are exact: ``charge``."""
    number = _decimal(value)
    return NOTHING if number is None else signed(-number)


@register.filter
def charge(value: Figure) -> str:
    """What a contact took off: ``−0.02``; a third decimal only where the charge has one; ``0.00`` when it was free."""
    number = _decimal(value)
    if number is None:
        return NOTHING
    number = abs(number)
    decimals = 2 if number == _rounded(number, 2) else 3
    rounded = _rounded(number, decimals)
    return f"{MINUS if rounded else ''}{rounded:f}"


@register.filter
def kpi(value: Figure, of: Kpi) -> str:
    """The customer's number as the customer writes it: grouped, with its unit."""
    number = plain(value, of.decimals)
    return number if number == NOTHING or not of.unit else f"{number}{THIN_SPACE}{of.unit}"


@register.filter
def better(of: Kpi) -> str:
    return "higher is better" if of.direction == "higher" else "lower is better"


@register.filter
def duration(value: timedelta | float | int | None) -> str:
    """``1 h 42 min``, ``42 min``, ``35 s``: two units at most."""
    if value is None:
        return NOTHING
    seconds = int(value.total_seconds() if isinstance(value, timedelta) else value)
    if seconds < 60:
        return f"{max(seconds, 0)} s"
    minutes, hours = seconds // 60 % 60, seconds // 3600
    if hours >= 48:
        return f"{hours // 24} d {hours % 24} h"
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min"


@register.filter
def share(part: int | None, whole: int) -> str:
    """``12 of 40``: a share is shown with what it is a share of."""
    return f"{part or 0} of {whole}"


@register.simple_tag
def when(moment: datetime | None, style: str = "minute") -> SafeString | str:
    """``<time>`` in the viewer's zone; the machine-readable form is UTC. ``style``: day, minute or clock."""
    if moment is None:
        return NOTHING
    local = timezone.localtime(moment) if timezone.is_aware(moment) else moment
    shown = {"day": "%-d %b %Y", "minute": "%-d %b %Y, %H:%M", "clock": "%H:%M:%S"}[style]
    machine = moment.astimezone(UTC).isoformat(timespec="seconds") if timezone.is_aware(moment) else moment.isoformat()
    return format_html('<time datetime="{}">{}</time>', machine, local.strftime(shown))


@register.filter
def item(mapping: Any, key: Any) -> Any:
    """Look-up by a key that only the page knows; nothing where it is missing."""
    return mapping.get(key) if hasattr(mapping, "get") else None
