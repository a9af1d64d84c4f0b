"""What a submission would hold and what it cannot, and whether its entry points still start."""

from __future__ import annotations

from typing import Any

from fdegym.catalog.scenarios import get_scenario
from fdegym.delivery.left_out import visible_name, would_be_left_out
from fdegym.lib.errors import FdegymError
from fdegym.runs.models import Run
from grading.worlds import ensure_world
from workspaces.services import changes, run_in_workspace

PROBE_TIMEOUT_S = 15.0
SHOWN_CHANGES = 200


def delivery_survey(run: Run) -> dict[str, Any]:
    """``{"changes": [{path, kind, added, removed, binary}], "more": n,
    "leftOut": {count, first: [{path, words}]}, "entryPoints": [{name, starts, words}]}``.
    """
    task = ensure_world(get_scenario(run.scenario_id), run.task_id)
    found = changes(str(run.id), task.system)
    probes = []
    for entry in task.scenario.config.replay.entry_points:
        if not entry.probe:
            continue
        try:
            done = run_in_workspace(
                str(run.id), entry.probe, timeout_s=PROBE_TIMEOUT_S, working_directory="/workspace/system"
            )
            tail = done.stderr.decode(errors="replace").strip().splitlines()
            words = (
                "did not answer in time" if done.timed_out else (tail[-1][:300] if done.exit_status and tail else "")
            )
            probes.append({"name": entry.name, "starts": done.exit_status == 0 and not done.timed_out, "words": words})
        except FdegymError as problem:
            probes.append({"name": entry.name, "starts": False, "words": str(problem)})
    return {
        "changes": [
            {
                "path": visible_name(change.path),
                "kind": change.kind,
                "added": change.lines_added,
                "removed": change.lines_removed,
                "binary": change.binary,
            }
            for change in found[:SHOWN_CHANGES]
        ],
        "more": max(0, len(found) - SHOWN_CHANGES),
        "leftOut": would_be_left_out(run).as_json(),
        "entryPoints": probes,
    }
