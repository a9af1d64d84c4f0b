"""An expert signs off a release: signing does not change what was signed, and a change after it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from fdegym.pages.customer import sign_off
from scenarios.kit.errors import ScenarioInvalid
from scenarios.kit.load import load_scenario
from tests.authoring.toy import write_toy

SIGNED = '\n[signoff]\nby = "Dr. Ada Vermeer, twenty years in retail"\non = 2026-11-30\nrelease = "{release}"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_toy(tmp_path)


def sign(folder: Path, more: str = "") -> str:
    manifest = folder / "scenario.toml"
    release = load_scenario(folder).release
    manifest.write_text(manifest.read_text() + SIGNED.format(release=release) + more)
    return release


def test_signing_changes_neither_the_release_nor_the_worlds(folder: Path) -> None:
    before = load_scenario(folder)
    sign(folder)
    after = load_scenario(folder)
    assert (after.release, after.world_release) == (before.release, before.world_release)
    assert sign_off(after) == {
        "by": "Dr. Ada Vermeer, twenty years in retail",
        "on": after.config.signoff.on,
        "is_current": True,
    }


def test_a_change_after_the_sign_off_shows(folder: Path) -> None:
    signed = sign(folder)
    (folder / "docs" / "later.md").write_text("Another paper.\n")
    changed = load_scenario(folder)
    assert changed.release != signed
    assert sign_off(changed)["is_current"] is False


def test_nothing_can_hide_behind_a_sign_off(folder: Path) -> None:
    sign(folder, "\n[limits]\nmemory_mb = 9000\n")
    with pytest.raises(ScenarioInvalid, match="stands last"):
        load_scenario(folder)


def test_a_sign_off_names_a_hash(folder: Path) -> None:
    manifest = folder / "scenario.toml"
    manifest.write_text(manifest.read_text() + SIGNED.format(release="the good one"))
    with pytest.raises(ScenarioInvalid, match=r"signoff\.release"):
        load_scenario(folder)


def test_without_a_sign_off_nobody_is_named(folder: Path) -> None:
    assert sign_off(load_scenario(folder)) is None
