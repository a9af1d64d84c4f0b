"""Who is asking."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import urlencode
from django_htmx.http import HttpResponseClientRedirect

from fdegym.accounts.models import User

Arguments = ParamSpec("Arguments")
View = Callable[Concatenate[HttpRequest, Arguments], HttpResponse]


def login_required_for_parts(view: View[Arguments]) -> View[Arguments]:
    """``login_required`` for a page of which htmx fetches a part: when the session has ended, the whole page goes to
    sign in and comes back, instead of a sign-in form appearing inside it."""
    guarded: View[Arguments] = login_required(view)

    @wraps(view)
    def answer(request: HttpRequest, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> HttpResponse:
        if request.headers.get("HX-Request") and not request.user.is_authenticated:
            return HttpResponseClientRedirect(f"{reverse('account_login')}?{urlencode({'next': request.path})}")
        return guarded(request, *args, **kwargs)

    return answer


def signed_in(request: HttpRequest) -> User:
    """The account behind a request to a page that requires one (``login_required`` has sent the others to sign in)."""
    if isinstance(request.user, User):
        return request.user
    raise PermissionDenied("Nobody is signed in.")
