"""Guessing passwords: after a few wrong ones a name is shut for a while, from that address alone (django-axes).

So nobody keeps somebody else from signing in, and one address gets nowhere however fast it asks. Names that no account
has are shut in the same way, by the same words.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from fdegym.accounts.buckets import TooOften
from fdegym.accounts.models import User


def address_of(request: HttpRequest) -> str:
    """Where a request comes from, as far as one can be told apart: of IPv6 the network that a household has (/64).

    ``REMOTE_ADDR`` is the visitor's own: what proxies of FDEGYM_PROXIES forward is put there before (``asgi``).
    """
    given = str(request.META.get("REMOTE_ADDR") or "")
    try:
        address = ipaddress.ip_address(given)
    except ValueError:
        return "0.0.0.0"  # noqa: S104 - an address to count by: a server on a unix socket tells none
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False).network_address)
    return given


def name_of(request: HttpRequest, credentials: Mapping[str, Any] | None) -> str:
    """The account that is meant: one spelling for all that the sign-in takes for the same."""
    given = (credentials or {}).get("username") or request.POST.get("login") or ""
    return User.normalize_username(str(given)).strip().casefold()[:150]


def shut(request: HttpRequest, response: HttpResponse | None, credentials: Mapping[str, Any] | None) -> HttpResponse:
    """The page of who guessed too often."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    words = (
        f"Signing in under this name failed {settings.AXES_FAILURE_LIMIT} times from here. It is not tried again for "
        f"{minutes} minutes, whatever is typed. If you forgot your password, ask the operator of this site for a new one."
    )
    page = render(request, "problem.html", {"problem": TooOften(words)}, status=429)
    page["Retry-After"] = str(minutes * 60)
    return page
