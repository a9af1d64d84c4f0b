"""What a deleted run or a killed process left on this host goes; what belongs to a run stays."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fdegym.accounts.models import User
from fdegym.delivery import leftovers
from fdegym.runs.models import Run
from grading.models import Submission

MakeRun = Callable[..., Run]


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Which runs have records, and which of them the keeper was told to forget."""
    told: dict[str, list[str]] = {"recorded": [], "forgotten": []}
    monkeypatch.setattr(leftovers, "recorded_runs", lambda older_than_s: told["recorded"])
    monkeypatch.setattr(leftovers, "forget_records", told["forgotten"].extend)
    return told


def frozen(directory: Path, run_id: object, *, age_s: float = 2 * leftovers.GRACE_S, end: str = ".tar") -> Path:
    path = directory / f"{run_id}-{uuid.uuid4().hex[:8]}{end}"
    path.write_bytes(b"frozen")
    os.utime(path, (time.time() - age_s,) * 2)
    return path


def test_what_no_submission_owns_is_removed_and_what_one_owns_stays(
    alice: User, make_run: MakeRun, settings: Any, tmp_path: Path, forgotten: dict[str, list[str]]
) -> None:
    settings.SUBMISSION_DIR = tmp_path
    run = make_run(alice)
    kept = frozen(tmp_path, run.id)
    # the site was moved: its database knows the place where the file lay
    Submission.objects.create(run=run, sealed_path=f"/elsewhere/{kept.name}", sha256="0" * 64, files=1, bytes=6)
    of_a_killed_process, of_a_deleted_run = frozen(tmp_path, run.id), frozen(tmp_path, uuid.uuid4())
    half_written = frozen(tmp_path, f".{uuid.uuid4()}", end=".tar.4711.140000")
    young = frozen(tmp_path, uuid.uuid4(), age_s=0)
    not_ours = tmp_path / "notes-of-the-operator.tar"
    not_ours.write_bytes(b"")
    os.utime(not_ours, (0, 0))
    removed = leftovers.remove_leftovers()
    assert set(removed) == {of_a_killed_process.name, of_a_deleted_run.name, half_written.name}
    assert sorted(tmp_path.iterdir()) == sorted([kept, young, not_ours])


def test_records_of_terminals_stay_as_long_as_their_run(
    alice: User, make_run: MakeRun, settings: Any, tmp_path: Path, forgotten: dict[str, list[str]]
) -> None:
    settings.SUBMISSION_DIR = tmp_path
    run, deleted = make_run(alice), uuid.uuid4()
    forgotten["recorded"] = [str(run.id), str(deleted), "no-run-of-this-site"]
    leftovers.remove_leftovers()
    assert forgotten["forgotten"] == [str(deleted)]
