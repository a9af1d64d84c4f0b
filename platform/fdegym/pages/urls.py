"""Addresses of the pages; a run's own address leads to the page that its state calls for."""

from __future__ import annotations

from django.urls import include, path

from fdegym.pages import outcomes, profile, visiting

urlpatterns = [
    path("", visiting.home, name="home"),
    path("scenarios/", visiting.catalogue, name="scenarios"),
    path("scenarios/<slug:scenario_id>/", visiting.scenario, name="scenario"),
    path("scenarios/<slug:scenario_id>/begin/", visiting.begin, name="scenario-begin"),
    path("method/", visiting.method, name="method"),
    path("help/", visiting.help_page, name="help"),
    path("runs/", outcomes.runs, name="runs"),
    path("workspaces/", visiting.workspaces, name="workspaces"),
    path("runs/<uuid:run_id>/grading/", outcomes.grading, name="grading"),
    path("runs/<uuid:run_id>/debrief/", outcomes.debrief, name="debrief"),
    path("runs/<uuid:run_id>/give-up/", outcomes.give_up, name="run-give-up"),
    path("runs/<uuid:run_id>/export.json", outcomes.export, name="run-export"),
    path("runs/<uuid:run_id>/", include("fdegym.pages.workbench_urls")),
    path("account/", profile.profile, name="profile"),
    path("account/runs.json", profile.export_runs, {"kind": "json"}, name="profile-export-json"),
    path("account/runs.csv", profile.export_runs, {"kind": "csv"}, name="profile-export-csv"),
    path("account/delete/", profile.erase, name="profile-erase"),
]
