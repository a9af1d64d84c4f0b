"""A stall's submissions: the tiny scenario, its world, sealed systems, and replays that end as a test says."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.grading.sides import TINY

HERE = Path(__file__).parent


@pytest.fixture
def stall(settings, tmp_path, monkeypatch):
    """The site offers the tiny scenario; its world is built in this process; nothing is kept between tests."""
    from grading import worlds
    from scenarios.kit.build import build

    settings.SCENARIO_DIRS = [HERE]
    settings.VAR = tmp_path
    settings.WORLD_CACHE = tmp_path / "worlds"
    settings.CACHE_DIR = tmp_path / "cache"
    settings.SUBMISSION_DIR = tmp_path / "submissions"
    settings.SUBMISSION_DIR.mkdir()
    monkeypatch.setattr(worlds, "build_in_sandbox", lambda runtime, scenario, *rest: build(scenario.folder, *rest))
    worlds.grading_runtime.cache_clear()
    yield TINY
    worlds.grading_runtime.cache_clear()


def seal(source: Path, target: Path) -> str:
    """A tar as ``Sandbox.snapshot`` writes it; returns its SHA-256."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, 0, "", ""
        return None if "__pycache__" in entry.name else entry

    with tarfile.open(target, "w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(source.iterdir()):
            archive.add(path, arcname=path.name, filter=plain)
    return hashlib.sha256(target.read_bytes()).hexdigest()


@dataclass(frozen=True)
class Sealed:
    path: Path
    sha256: str
    files: int = 4
    bytes: int = 1000


@pytest.fixture
def submit(stall, settings, make_run, tmp_path):
    """``submit(user, files={...}, events=[...])``: a submitted run of the stall with these files over the system."""
    from fdegym.runs import log
    from fdegym.runs.models import RunState
    from fdegym.runs.services import transition
    from grading.queue import queue_submission

    def make(user, *, files=None, solution=None, events=(), cause="person", **fields):
        run = make_run(user, TINY.name, **fields)
        for kind, payload in events:
            log.append(run.id, kind, payload)
        folder = tmp_path / f"system-{run.id}"
        shutil.copytree(TINY / "system", folder)
        if solution:
            shutil.copytree(TINY / "solutions" / solution, folder, dirs_exist_ok=True)
        for name, text in (files or {}).items():
            (folder / name).write_text(text)
        target = settings.SUBMISSION_DIR / f"{run.id}.tar"
        sealed = Sealed(target, seal(folder, target))
        transition(run.id, RunState.SUBMITTED)
        run.refresh_from_db()
        return queue_submission(run, sealed, cause)

    return make


@pytest.fixture
def replays(stall, monkeypatch):
    """``replays(kpi, ...)``: what the next replays come to: KPIs, or exceptions to raise. The last one repeats.

    Anchors are 0 and 10. Returns the list of systems that were replayed.
    """
    from grading import attempt, services
    from grading.anchors import TaskAnchors
    from grading.measure import Measured
    from grading.replay import GradedReplay

    measured = []

    def script(*outcomes, incidents=(), during=lambda: None):
        def measure(task, system, **callbacks):
            measured.append(system)
            during()
            outcome = outcomes[min(len(measured), len(outcomes)) - 1]
            if isinstance(outcome, BaseException):
                raise outcome
            replay = GradedReplay(outcome, tuple(incidents), (), "ten days of spring", 1.0, 1.0, 20, {})
            return Measured(replay, {"python": "3.11", "sqlite": "3.40", "sandbox": "none", "limits": ""})

        for module in (attempt, services):
            monkeypatch.setattr(module, "measure", measure)
            monkeypatch.setattr(module, "task_anchors", lambda task, **_: TaskAnchors(0.0, 10.0))
        return measured

    return script
