"""Addresses of the leaderboard."""

from __future__ import annotations

from django.urls import path

from fdegym.leaderboard import views

urlpatterns = [
    path("leaderboard/", views.overall, name="leaderboard"),
    path("leaderboard/<slug:scenario_id>/", views.of_scenario, name="leaderboard-scenario"),
]
