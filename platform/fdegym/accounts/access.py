"""Who is asking."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from fdegym.accounts.models import User


def signed_in(request: HttpRequest) -> User:
    """The account behind a request to a page that requires one (``login_required`` has sent the others to sign in)."""
    if isinstance(request.user, User):
        return request.user
    raise PermissionDenied("Nobody is signed in.")
