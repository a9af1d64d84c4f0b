"""A run from its beginning to its grade through the real services, without a sandbox: workspaces and replays are staged."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.grading.conftest import replays, seal, stall  # noqa: F401 - fixtures
from tests.grading.sides import TINY


@pytest.fixture
def market(stall: Path, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:  # noqa: F811
    """The site offers a copy of the stall, which a test may change; nothing is sandboxed."""
    from fdegym.delivery import begin, submit
    from stakeholders.scripts import compiled_script
    from workspaces.services import FrozenSystem

    folder = tmp_path / "offered" / TINY.name
    shutil.copytree(TINY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    settings.SCENARIO_DIRS = [folder.parent]
    settings.DESK_DIR = tmp_path / "desk"

    def freeze(run_id: str, target: Path) -> FrozenSystem:
        return FrozenSystem(target, seal(TINY / "system", target), 4, 1000)

    monkeypatch.setattr(begin, "open_workspace", lambda run_id, materials, **_: None)
    monkeypatch.setattr(begin, "ask_for_workspace", lambda run_id, materials, **_: None)
    monkeypatch.setattr(submit, "freeze_system", freeze)
    for module in (begin, submit):
        monkeypatch.setattr(module, "wake", lambda *_: None)
    compiled_script.cache_clear()
    yield folder
    compiled_script.cache_clear()


@pytest.fixture
def begin(market: Path) -> Callable[..., Any]:
    """``begin(user, level="L3")``: an open run at the stall."""
    from fdegym.delivery.begin import begin_run, prepare_run

    def make(user: Any, level: str = "L3") -> Any:
        return prepare_run(begin_run(user, TINY.name, level).id)

    return make


@pytest.fixture
def talk(market: Path) -> Callable[..., None]:
    """``talk(run, *texts)``: write to Ada, who answers anything with the same words for 0.01 each."""
    from stakeholders.exchange import Exchange

    def nobody_matches(*_: Any) -> Any:
        raise AssertionError("Ada answers whatever she is asked")

    def say(run: Any, *texts: str) -> None:
        exchange = Exchange(run.id, nobody_matches)
        for number, text in enumerate(texts):
            exchange.say(f"m-{number}", "ada", text)

    return say


@pytest.fixture
def hand_in(market: Path, replays: Callable[..., Any]) -> Callable[..., Any]:  # noqa: F811
    """``hand_in(run, kpi=10.0, cause="person")``: submitted and graded; as found 0, reference 10. Gives the grade."""
    from fdegym.delivery.submit import submit_run
    from grading.services import grade_submission

    def finish(run: Any, kpi: Any = 10.0, *, cause: str = "person", incidents: Any = ()) -> Any:
        replays(kpi, incidents=incidents)
        grade = grade_submission(submit_run(run.id, cause=cause))
        run.refresh_from_db()
        return grade

    return finish


@pytest.fixture
def graded(begin: Callable[..., Any], talk: Callable[..., None], hand_in: Callable[..., Any]) -> Callable[..., Any]:
    """``graded(user)``: a run with two contacts, graded at S = 0.98."""

    def make(user: Any, *, level: str = "L3", kpi: Any = 10.0) -> Any:
        run = begin(user, level)
        talk(run, "What is wrong with the totals?", "And the returned goods?")
        hand_in(run, kpi)
        return run

    return make


@pytest.fixture
def database_is_only_read(db: None) -> Iterator[None]:
    """Any statement that would change a row, in the block of a test that asks for this fixture, fails."""

    def refuse(execute: Any, sql: str, params: Any, many: Any, context: Any) -> Any:
        assert sql.lstrip().upper().startswith(("SELECT", "SAVEPOINT", "RELEASE")), sql
        return execute(sql, params, many, context)

    with connection.execute_wrapper(refuse):
        yield
