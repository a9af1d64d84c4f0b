"""Signing in and up, which are django-allauth's with limits of ours; and the theme switch: kept in a cookie for
everybody, and with the account for those who are signed in."""

from __future__ import annotations

from allauth.account import views as allauth_views
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from fdegym.accounts.buckets import FAILED_SIGN_INS, SIGN_UPS
from fdegym.accounts.guessing import address_of
from fdegym.accounts.models import Theme, User
from fdegym.accounts.services import remember_theme

THEME_COOKIE = "theme"
ONE_YEAR_S = 365 * 24 * 3600


def sign_in(request: HttpRequest) -> HttpResponseBase:
    """Guessing one account's password is django-axes' (``guessing``); this is who tries many accounts."""
    token = FAILED_SIGN_INS.take(address_of(request)) if request.method == "POST" else None
    response: HttpResponseBase = allauth_views.login(request)
    if token and request.user.is_authenticated:
        token.put_back()
    return response


def sign_up(request: HttpRequest) -> HttpResponseBase:
    token = SIGN_UPS.take(address_of(request)) if request.method == "POST" else None
    response: HttpResponseBase = allauth_views.signup(request)
    if token and not request.user.is_authenticated:
        token.put_back()
    return response


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    chosen = request.POST.get("theme", "")
    if chosen not in Theme.values:
        return HttpResponseBadRequest("The theme is one of: system, light, dark.", content_type="text/plain")
    if isinstance(request.user, User):
        remember_theme(request.user, chosen)
    back_to = request.POST.get("next", "")
    if not url_has_allowed_host_and_scheme(back_to, allowed_hosts={request.get_host()}):
        back_to = reverse("home")
    response = HttpResponse(status=204) if request.headers.get("HX-Request") else HttpResponseRedirect(back_to)
    return remember_theme_in(response, chosen, request)


def remember_theme_in(response: HttpResponse, chosen: str, request: HttpRequest) -> HttpResponse:
    """The cookie outlives signing out: the sign-in page then looks as the rest did."""
    secure = request.is_secure()
    response.set_cookie(THEME_COOKIE, chosen, max_age=ONE_YEAR_S, samesite="Lax", httponly=True, secure=secure)
    return response
