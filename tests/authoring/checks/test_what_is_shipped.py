"""What admission writes beside a scenario's phrasings for the sites that offer it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fdegym.authoring.checks.matcher import ship_matcher
from scenarios.kit.load import load_scenario
from scenarios.kit.phrasings import load_phrasings
from stakeholders.matcher.encoder import shared_encoder
from stakeholders.matcher.fitted import SHIPPED, Fitted, content_of

SHOWN = Path(__file__).resolve().parents[3] / "scenarios" / "first_delivery"


@pytest.fixture(autouse=True)
def _own_cache(settings, tmp_path: Path) -> None:
    settings.CACHE_DIR = tmp_path / "cache"


def test_what_the_matcher_learnt_is_written_as_it_is_read(tmp_path: Path) -> None:
    ship_matcher(load_scenario(SHOWN), tmp_path)
    content = content_of(load_phrasings(SHOWN / "phrasings.toml"), shared_encoder())
    assert Fitted.read(tmp_path / SHIPPED, content) is not None
    assert Fitted.read(tmp_path / SHIPPED, content[::-1]) is None


def test_it_is_no_part_of_what_was_admitted(tmp_path: Path) -> None:
    folder = tmp_path / SHOWN.name
    shutil.copytree(SHOWN, folder)
    (folder / SHIPPED).write_bytes(b"another")
    assert load_scenario(folder).release == load_scenario(SHOWN).release


def test_without_phrasings_nothing_is_shipped(tmp_path: Path) -> None:
    folder = tmp_path / SHOWN.name
    shutil.copytree(SHOWN, folder, ignore=shutil.ignore_patterns("phrasings.toml", SHIPPED))
    ship_matcher(load_scenario(folder), folder)
    assert not (folder / SHIPPED).exists()
