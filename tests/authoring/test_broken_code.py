"""A scenario's own code that fails is told by what it says itself, is not tried again, and leaves nothing half made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fdegym.authoring.admission import worker
from fdegym.authoring.admission.findings import HostTooBusy
from fdegym.delivery import play
from fdegym.delivery.play import GradeMissing
from fdegym.lib.errors import FdegymError
from grading.trusted import WorldUnbuilt
from grading.worlds import ensure_world
from scenarios.kit.load import load_scenario
from stakeholders.client import DeskSilent
from tests.authoring.toy import write_toy
from workspaces.runtime.errors import HostFull

ENDS = "\nimport os\n\n\ndef build(*_):\n    os._exit(0)\n"
RAISES = "\n\ndef build(*_):\n    raise KeyError('returns')\n"


@pytest.mark.sandbox
@pytest.mark.parametrize(("code", "why"), [(ENDS, "its code ended the process"), (RAISES, "KeyError: 'returns'")])
def test_half_a_world_is_not_kept(code: str, why: str, tmp_path: Path, settings: Any) -> None:
    settings.WORLD_CACHE = tmp_path / "worlds"
    folder = write_toy(tmp_path)
    world = folder / "world.py"
    sound = world.read_text()
    world.write_text(sound + code)
    with pytest.raises(WorldUnbuilt) as unbuilt:
        ensure_world(load_scenario(folder), "original")
    assert str(unbuilt.value).splitlines()[0].endswith(f"nothing of it is kept: {why}")
    assert list((tmp_path / "worlds").glob("[0-9a-f]*")) == []
    world.write_text(sound)
    assert ensure_world(load_scenario(folder), "original").system.is_dir()


@pytest.mark.parametrize(
    ("detail", "gist"),
    [
        ("", ""),
        ("kpi must be a finite number, not nan\nbwrap: and more", "kpi must be a finite number, not nan"),
        (
            'Traceback (most recent call last):\n  File "grader.py", line 1\n    boo()\nValueError: boo\n',
            "ValueError: boo",
        ),
    ],
)
def test_an_author_is_told_the_gist_of_what_went_wrong(detail: str, gist: str) -> None:
    assert play._gist(detail) == gist


@pytest.mark.parametrize("lasting", [True, False])
def test_only_what_may_go_well_another_time_is_played_again(lasting: bool) -> None:
    assert worker._is_ours(GradeMissing("Not graded.", lasting=lasting)) is not lasting


@pytest.mark.parametrize("problem", [DeskSilent("Try again in a moment."), HostFull("No room."), HostTooBusy("Busy.")])
def test_what_the_host_had_no_time_or_room_for_is_no_fault_of_the_scenario(
    problem: FdegymError, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: object) -> dict[str, Any]:
        raise problem

    monkeypatch.setitem(worker.DOING, "play", fails)
    answer = worker.answer_to('{"scenario": "toy", "part": "play", "name": "reference", "task": "original"}')
    assert answer["later"]
    assert "Try again" not in answer["failed"], "who admits is no player"
