"""Addresses of the operation: what machines ask, and the operators' pages."""

from __future__ import annotations

from django.urls import path

from fdegym.operations import probes, views

urlpatterns = [
    path("health/", probes.health, name="health"),
    path("ready/", probes.ready, name="ready"),
    path("metrics/", probes.figures, name="metrics"),
    path("operations/", views.overview, name="operations"),
    path("operations/runs/", views.runs, name="operations-runs"),
    path("operations/runs/<uuid:run_id>/", views.run, name="operations-run"),
    path("operations/queues/", views.queues, name="operations-queues"),
    path("operations/hosts/", views.hosts, name="operations-hosts"),
    path("operations/log/", views.operator_log, name="operations-log"),
    path("operations/acts/<slug:name>/<str:subject>/", views.act, name="operations-act"),
]
