"""Addresses of the pages; each feature has its own list."""

from django.urls import include, path

urlpatterns = [
    path("account/", include("fdegym.accounts.urls")),
    path("", include("fdegym.leaderboard.urls")),
    path("", include("fdegym.pages.urls")),
    path("", include("fdegym.operations.urls")),
]

handler400 = "fdegym.middleware.bad_request"
