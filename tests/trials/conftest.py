"""Open runs at a stall that has trials; the workspace, the sandbox and the time that a trial takes are staged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.grading.conftest import seal
from tests.grading.sides import TINY
from tests.trials.trying_stall import write_stall


@pytest.fixture
def trying(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The site offers the stall with trials; its world is built in this process. Gives the scenario's folder."""
    from grading import worlds
    from scenarios.kit.build import build
    from stakeholders.scripts import compiled_script

    folder = write_stall(tmp_path / "offered")
    settings.SCENARIO_DIRS = [folder.parent]
    settings.VAR = tmp_path
    settings.WORLD_CACHE = tmp_path / "worlds"
    settings.CACHE_DIR = tmp_path / "cache"
    settings.SUBMISSION_DIR = tmp_path / "submissions"
    settings.DESK_DIR = tmp_path / "desk"
    monkeypatch.setattr(worlds, "build_in_sandbox", lambda runtime, scenario, *rest: build(scenario.folder, *rest))
    worlds.grading_runtime.cache_clear()
    compiled_script.cache_clear()
    yield folder
    worlds.grading_runtime.cache_clear()
    compiled_script.cache_clear()


@pytest.fixture
def begin(trying: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Any]:
    """``begin(user)``: an open run at the stall, its workspace as found."""
    from fdegym.delivery import begin as beginning
    from fdegym.delivery import submit, trials
    from workspaces.services import FrozenSystem

    def packed(run_id: str, target: Path) -> FrozenSystem:
        return FrozenSystem(target, seal(TINY / "system", target), 4, 1000)

    monkeypatch.setattr(beginning, "ask_for_workspace", lambda run_id, materials, **_: None)
    monkeypatch.setattr(submit, "freeze_system", packed)
    monkeypatch.setattr(trials, "copy_system", packed)
    for module in (beginning, submit):
        monkeypatch.setattr(module, "wake", lambda *_: None)

    def make(user: Any) -> Any:
        return beginning.prepare_run(beginning.begin_run(user, TINY.name, "L3").id)

    return make


@pytest.fixture
def ask(trying: Path) -> Callable[..., dict[str, Any]]:
    """``ask(run, "t1")``: what the desk answers to whoever asks for a trial."""
    from stakeholders.exchange import Exchange

    def nobody_matches(*_: Any) -> Any:
        raise AssertionError("Ada answers whatever she is asked")

    def trial(run: Any, client_id: str) -> dict[str, Any]:
        shown: dict[str, Any] = Exchange(run.id, nobody_matches).trial(client_id)["trial"]
        return shown

    return trial


@pytest.fixture
def finds(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Path]]:
    """``finds(outcome, ...)``: what the next trials come to: findings, or exceptions to raise; the last one repeats.

    ``failed=True``: every call of the system failed. Gives the list of the systems that were tried.
    """
    from fdegym.delivery import trials
    from grading.replay import TriedSystem

    tried: list[Path] = []

    def script(*outcomes: Any, failed: bool = False, during: Callable[[], None] = lambda: None) -> list[Path]:
        def try_system(task: Any, system: Path, **callbacks: Any) -> TriedSystem:
            assert system.is_file()
            tried.append(system)
            callbacks["on_step"]("start")
            during()
            callbacks["progress"](1, 3, "evening 2")
            outcome = outcomes[min(len(tried), len(outcomes)) - 1]
            if isinstance(outcome, BaseException):
                raise outcome
            row = {"calls": 3, "failed": 3 if failed else 0}
            return TriedSystem(tuple(outcome), 0.5, 0.6, 6, {"record": row, "total": row})

        monkeypatch.setattr(trials, "try_system", try_system)
        return tried

    return script
