from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from depot import ExactPhrasingMatcher, write_depot

from stakeholders.exchange import Exchange
from stakeholders.scripts import compiled_script


@pytest.fixture
def depot(settings: Any, tmp_path: Path) -> Iterator[str]:
    """The small customer is on offer; gives its release."""
    settings.SCENARIO_DIRS = [tmp_path / "scenarios"]
    settings.WORLD_CACHE = tmp_path / "worlds"
    settings.WORLD_SALT = ""
    compiled_script.cache_clear()
    yield write_depot(tmp_path / "scenarios", tmp_path / "worlds")
    compiled_script.cache_clear()


@pytest.fixture
def alices_run(alice: Any, make_run: Callable[..., Any], depot: str) -> Any:
    """Alice's open run at the depot."""
    return make_run(alice, "depot", release=depot)


@pytest.fixture
def matcher() -> ExactPhrasingMatcher:
    return ExactPhrasingMatcher()


@pytest.fixture
def exchange(alices_run: Any, matcher: ExactPhrasingMatcher) -> Exchange:
    return Exchange(alices_run.id, matcher)
