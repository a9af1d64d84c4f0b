"""The two ends of U for a task: from ``anchors.json`` if it is of this very release, else measured once and kept.

A scenario under authoring has no anchors yet, and a salted site has worlds of its own: both are measured here, the
system as found and the reference, by the same replay as any delivery.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from pathlib import Path

from django.conf import settings

from grading.anchors import AnchorsFile, AnchorsUnreadable, TaskAnchors, read_anchors
from grading.measure import measure, system_of
from grading.replay import ProgressCallback, no_progress
from grading.versions import replay_hash
from scenarios.kit.cache import world_key
from scenarios.kit.load import Scenario, Task
from scenarios.kit.solutions import load_solution, solution_hash

logger = logging.getLogger(__name__)


def admitted_anchors(scenario: Scenario, task_id: str) -> TaskAnchors | None:
    """The task's anchors of ``anchors.json``; None when there are none of this release or the site's worlds are salted.

    Admission, which writes that file, takes nothing from it.
    """
    if settings.WORLD_SALT or not settings.TRUST_ANCHORS:
        return None
    anchors = _anchors_file(scenario)
    return anchors.of_release(scenario.release).get(task_id) if anchors else None


def admitted_evidence(scenario: Scenario) -> AnchorsFile | None:
    """What admission found and says to everybody: a file with ``evidence``; None where there is none of this release."""
    anchors = _anchors_file(scenario)
    return anchors if anchors and anchors.release == scenario.release and anchors.evidence else None


def _anchors_file(scenario: Scenario) -> AnchorsFile | None:
    """What admission wrote beside the scenario; None, with a line for operators, where it cannot be read."""
    try:
        return read_anchors((scenario.folder / "anchors.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, AnchorsUnreadable, UnicodeDecodeError) as problem:
        logger.warning("anchors.json of %s is not used: %s", scenario.id, problem)
        return None


def _kept_at(task: Task) -> Path:
    """Named by all that decides the figures: the world, the reference, the code that replays and the sandbox."""
    parts = (
        world_key(task.scenario, task.task_id, settings.WORLD_SALT),
        solution_hash(task.scenario, task.task_id, "reference"),
        replay_hash(),
    )
    name = hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:40]
    return Path(settings.CACHE_DIR) / "anchors" / f"{name}.json"


def _kept(path: Path) -> TaskAnchors | None:
    try:
        row = json.loads(path.read_text())
        return TaskAnchors(float(row["kpi_baseline"]), float(row["kpi_reference"]))
    except FileNotFoundError:
        return None
    except (ValueError, LookupError, TypeError) as problem:
        logger.warning("%s is measured anew: %s", path, problem)
        return None


def _half(progress: ProgressCallback, number: int) -> ProgressCallback:
    """The progress of one of two replays as that of both: whoever waits for them sees one bar, which never goes back."""
    return lambda done, total, what: progress(number * total + done, 2 * total, what)


def task_anchors(task: Task, *, progress: ProgressCallback = no_progress) -> TaskAnchors:
    """Anchors of a task, measured now if nobody has yet. Raises what ``measure`` raises."""
    admitted = admitted_anchors(task.scenario, task.task_id)
    if admitted is not None:
        return admitted
    path = _kept_at(task)
    kept = _kept(path)
    if kept is not None:
        return kept
    ends = {}
    for number, name in enumerate(("do_nothing", "reference")):
        with system_of(task, load_solution(task, name)) as system:
            ends[name] = measure(task, system, progress=_half(progress, number)).replay.kpi
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_text(json.dumps({"kpi_baseline": ends["do_nothing"], "kpi_reference": ends["reference"]}))
    temporary.replace(path)
    return TaskAnchors(ends["do_nothing"], ends["reference"])
