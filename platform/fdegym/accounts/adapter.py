"""Who may create an account, and where people land. Everything else of signing in is django-allauth's."""

from __future__ import annotations

import ipaddress
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.urls import reverse

from fdegym.accounts.models import User

#: A proxy on this machine makes every visitor look local. These only ever close the door, so forging one gains nothing.
FORWARDING_HEADERS = (
    "HTTP_FORWARDED",
    "HTTP_VIA",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_REAL_IP",
)


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def is_from_this_machine(request: HttpRequest) -> bool:
    """Whether the connection itself comes from a loopback address, to this machine's own name, passed on by no proxy."""
    if any(header in request.META for header in FORWARDING_HEADERS):
        return False
    name, _port = split_domain_port(request.get_host())
    own_name = name == "localhost" or _is_loopback(name.strip("[]"))
    return own_name and _is_loopback(request.META.get("REMOTE_ADDR") or "")


def is_signup_open(request: HttpRequest) -> bool:
    """``SIGNUP`` is "open", "closed" or "loopback": open to those who sit at the machine that serves."""
    return settings.SIGNUP == "open" or (settings.SIGNUP == "loopback" and is_from_this_machine(request))


class AccountAdapter(DefaultAccountAdapter):
    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return is_signup_open(request)

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """One spelling for what looks alike (full-width letters, ligatures), and no name that another account shows."""
        name = str(super().clean_username(User.normalize_username(username), shallow))
        if not shallow and User.objects.filter(display_name__iexact=name).exists():
            raise ValidationError("Somebody else here has this name.")
        return name

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("profile")

    def add_message(self, *args: Any, **kwargs: Any) -> None:
        """Signing in and out is seen on the page; only a changed password is worth a sentence."""
        template = kwargs.get("message_template") or (args[2] if len(args) > 2 else None)
        if template == "account/messages/password_changed.txt":
            super().add_message(*args, **kwargs)
