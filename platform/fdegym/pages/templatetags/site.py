"""What every page knows of its viewer, whichever view drew it (error pages and sign-in included)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import template
from django.forms import BoundField
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from fdegym.accounts.adapter import is_signup_open
from fdegym.accounts.models import Theme, User
from fdegym.accounts.views import THEME_COOKIE

register = template.Library()


@dataclass(frozen=True)
class Viewer:
    theme: str
    signup_open: bool
    zone_name: str


@register.simple_tag(takes_context=True)
def viewer(context: dict[str, Any]) -> Viewer:
    """``{% viewer as viewer %}``. Without a request (the 500 page), what a stranger would see."""
    zone_name = timezone.get_current_timezone_name()
    request: HttpRequest | None = context.get("request")
    if request is None:
        return Viewer(theme=Theme.SYSTEM, signup_open=False, zone_name=zone_name)
    user = getattr(request, "user", None)
    theme = user.theme if isinstance(user, User) else request.COOKIES.get(THEME_COOKIE, Theme.SYSTEM)
    return Viewer(
        theme=theme if theme in Theme.values else Theme.SYSTEM,
        signup_open=is_signup_open(request),
        zone_name=zone_name,
    )


@register.simple_tag
def control(field: BoundField) -> SafeString:
    """The field's control; of a form that was refused, the first wrong one takes the keyboard."""
    first = next((one.name for one in field.form if one.errors), None)
    return field.as_widget(attrs={"autofocus": True} if field.name == first else None)


#: Parts of the site → names of the addresses that belong to them besides their own.
BELONGS = {
    "scenarios": ("scenario", "scenario-begin"),
    "runs": ("run", "grading", "debrief", "run-give-up"),
    "leaderboard": ("leaderboard-scenario",),
    "operations-runs": ("operations-run",),
    "operation": (
        *("operations", "operations-runs", "operations-run", "operations-queues", "operations-hosts"),
        *("operations-log", "operations-act"),
    ),
    "profile": ("profile-erase", "account_change_password"),
}


@register.simple_tag(takes_context=True)
def here(context: dict[str, Any], section: str) -> SafeString | str:
    """``aria-current`` on the link to the part of the site that this page belongs to."""
    match = getattr(context.get("request"), "resolver_match", None)
    current = getattr(match, "url_name", None)
    if current == section:
        return format_html(' aria-current="{}"', "page")
    return format_html(' aria-current="{}"', "true") if current in BELONGS.get(section, ()) else ""
