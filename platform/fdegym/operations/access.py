"""Who sees what of the operation: its pages are operators' alone, figures may be read with a token."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

from fdegym.accounts.adapter import is_from_this_machine
from fdegym.accounts.models import Role, User

Arguments = ParamSpec("Arguments")
View = Callable[Concatenate[HttpRequest, Arguments], HttpResponse]


def is_operator(request: HttpRequest) -> bool:
    user = getattr(request, "user", None)
    return isinstance(user, User) and user.is_active and user.role == Role.OPERATOR


def operators_only(view: View[Arguments]) -> View[Arguments]:
    """Strangers are asked to sign in; for everybody else who is no operator the page does not exist."""

    @wraps(view)
    def answer(request: HttpRequest, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> HttpResponse:
        if not is_operator(request):
            raise Http404
        return view(request, *args, **kwargs)

    guarded: View[Arguments] = login_required(answer)
    return guarded


def may_see_details(request: HttpRequest) -> bool:
    """Of readiness: operators, and whoever asks on this machine itself through no proxy."""
    return is_operator(request) or is_from_this_machine(request)


def may_read_figures(request: HttpRequest) -> bool:
    """Operators, and whoever holds the token. The file is read each time: a new token holds at once."""
    if is_operator(request):
        return True
    path = settings.ENVIRONMENT.metrics_token_file
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if path is None or scheme.lower() != "bearer" or not given.strip():
        return False
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return False
    return bool(token) and constant_time_compare(given.strip(), token)
