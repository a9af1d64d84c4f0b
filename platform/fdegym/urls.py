"""Addresses of the pages; each feature has its own list."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def health(_request: HttpRequest) -> HttpResponse:
    """Whether the site answers; nothing else is asked, so that a busy database does not look like a dead process."""
    return HttpResponse("ok\n", content_type="text/plain")


urlpatterns = [
    path("health/", health, name="health"),
    path("account/", include("fdegym.accounts.urls")),
    path("", include("fdegym.leaderboard.urls")),
    path("", include("fdegym.pages.urls")),
]

handler400 = "fdegym.middleware.bad_request"
