"""What an admission writes: that it cannot is said before anything is played, and what it measured is never lost."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from fdegym.authoring.admission import report as reports
from fdegym.authoring.admission.conditions import Played
from fdegym.authoring.admission.report import Report, write
from fdegym.authoring.management.commands import admit
from grading.anchors import read_anchors
from scenarios.kit.load import load_scenario
from tests.authoring.toy import NAME, write_toy


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.SCENARIO_DIRS, settings.VAR = [tmp_path], tmp_path / "var"
    return write_toy(tmp_path)


@pytest.fixture
def report(folder: Path) -> Report:
    return Report(Played(load_scenario(folder), {}), [])


def test_a_place_for_json_that_cannot_be_written_is_said_before_anything_is_played(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def played(*_: object) -> None:
        raise AssertionError("something was played")

    monkeypatch.setattr(admit, "admit", played)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    places = {tmp_path: "is a folder", tmp_path / "no" / "x.json": "there is no folder"}
    if os.geteuid() != 0:
        places[closed / "x.json"] = "cannot be written by this user"
    for place, words in places.items():
        with pytest.raises(CommandError, match=words):
            call_command("admit", NAME, "--json", str(place))


@pytest.mark.parametrize("refusal", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_anchors_that_may_not_be_written_beside_the_scenario_are_written_below_var(
    refusal: int, report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A read-only checkout refuses by another number than a folder of somebody else."""
    write_text = Path.write_text

    def write_elsewhere(path: Path, text: str, **options: Any) -> int:
        if path == report.scenario.folder / "anchors.json":
            raise OSError(refusal, os.strerror(refusal))
        return write_text(path, text, **options)

    monkeypatch.setattr(reports.Path, "write_text", write_elsewhere)
    written = write(report)
    assert written == tmp_path / "var" / "anchors" / NAME / "anchors.json"
    assert read_anchors(written.read_text()).release == report.scenario.release


def test_a_disk_that_is_full_at_the_end_is_told_in_a_line_and_nothing_is_admitted(
    report: Report, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(admit, "admit", lambda wanted: [report])
    monkeypatch.setattr(Report, "failures", lambda self: [])
    monkeypatch.setattr(reports.Path, "write_text", full)
    with pytest.raises(CommandError, match=f"Not admitted: {NAME}"):
        call_command("admit", NAME)
    assert "its anchors cannot be written: [Errno 28] No space left on device" in capsys.readouterr().err


def test_a_disk_that_is_full_while_it_plays_is_told_in_a_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(admit, "admit", full)
    with pytest.raises(CommandError, match="No space left on device"):
        call_command("admit", NAME)
