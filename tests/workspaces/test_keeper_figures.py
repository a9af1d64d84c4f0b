"""What the keeper tells of itself, to whoever measures and to an operator."""

from __future__ import annotations

from fdegym.lib import counts
from workspaces import services


def test_the_keeper_tells_what_runs_what_room_is_left_and_what_it_has_started(keeper, open_run):
    before = services.keeper_figures()
    assert (before["running"], before["terminals"]) == (0, 0)
    run_id = open_run()
    figures = services.keeper_figures()
    assert figures["running"] == 1
    assert 0 < figures["memory_mb"] <= figures["memory_mb_max"]
    counted = counts.from_rows(figures["counts"])
    assert counted["fdegym_workspace_starts_total", (("outcome", "ok"),)] == 1
    (row,) = services.keeper_workspaces()
    assert (row["run"], row["state"], row["terminals"]) == (run_id, "running", 0)
    services.stop_workspace(run_id)
    assert services.keeper_figures()["running"] == 0
    (row,) = services.keeper_workspaces()
    assert row["state"] == "stopped"


def test_its_report_says_what_enforces_the_limits_there(keeper):
    report = services.keeper_report()
    assert report.usable
    assert set(report.limits_enforced_by) >= {"memory", "processes", "disk"}
