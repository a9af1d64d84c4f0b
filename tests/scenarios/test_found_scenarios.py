"""A scenario is read once and found many times, and yet a file that was changed is noticed while the site runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from scenarios.kit import load
from scenarios.kit.errors import ScenarioUnknown
from scenarios.kit.load import find_scenario

SHIPPED = Path(load.__file__).resolve().parents[1] / "first_delivery"


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return write_scenario(tmp_path / "private")


def write_scenario(directory: Path) -> Path:
    """As little of a shipped scenario as can be loaded."""
    folder = directory / SHIPPED.name
    folder.mkdir(parents=True)
    for name in ("scenario.toml", "facts.toml"):
        shutil.copyfile(SHIPPED / name, folder / name)
    return folder


def written_to(folder: Path) -> None:
    (folder / "facts.toml").write_text((folder / "facts.toml").read_text() + "\n# noticed\n")


def written_to_and_dated_back(folder: Path) -> None:
    before = (folder / "scenario.toml").stat()
    written_to(folder)
    os.utime(folder / "facts.toml", ns=(before.st_atime_ns - 10**12, before.st_mtime_ns - 10**12))


def given_a_file_deep_below(folder: Path) -> None:
    (folder / "world" / "docs").mkdir(parents=True)
    (folder / "world" / "docs" / "handbook.md").write_text("# Handbook\n")


def robbed_of_a_file(folder: Path) -> None:
    (folder / "notes.md").unlink()


def given_another_name_for_a_file(folder: Path) -> None:
    (folder / "notes.md").rename(folder / "remarks.md")


CHANGES = [
    written_to,
    written_to_and_dated_back,
    given_a_file_deep_below,
    robbed_of_a_file,
    given_another_name_for_a_file,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_scenario_is_another_one_once_its_folder_is(change: Callable[[Path], None], one: Path) -> None:
    (one / "notes.md").write_text("to be thrown away\n")
    before = find_scenario(one.name, [one.parent])
    assert find_scenario(one.name, [one.parent]) is before, "nothing changed: nothing is read again"
    change(one)
    after = find_scenario(one.name, [one.parent])
    assert after.release == load.content_hash(one) != before.release


def test_whoever_only_shows_it_may_do_with_what_was_found_a_moment_ago(one: Path) -> None:
    before = find_scenario(one.name, [one.parent], within_s=3600)
    written_to(one)
    assert find_scenario(one.name, [one.parent], within_s=3600) is before
    assert find_scenario(one.name, [one.parent]).release != before.release


def test_one_that_is_installed_or_removed_while_the_site_runs_is_there_or_gone_at_once(
    one: Path, tmp_path: Path
) -> None:
    directories = [tmp_path / "first", one.parent]

    def found() -> Path:
        return find_scenario(one.name, directories, within_s=3600).folder

    assert found() == one
    earlier = write_scenario(tmp_path / "first")
    assert found() == earlier
    shutil.rmtree(earlier)
    assert found() == one
    shutil.rmtree(one)
    with pytest.raises(ScenarioUnknown):
        found()


def test_links_that_lead_nowhere_keep_no_scenario_from_being_found(one: Path) -> None:
    (one / "itself").symlink_to("itself")
    (one / "nowhere").symlink_to("no such file")
    assert find_scenario(one.name, [one.parent]).folder == one
