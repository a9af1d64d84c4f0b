"""Where built worlds lie: found again, built once, under names that tell nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from scenarios.kit import cache
from scenarios.kit.cache import _building, world_key, world_place
from scenarios.kit.load import load_scenario

SCENARIO = load_scenario(Path(__file__).resolve().parents[2] / "scenarios" / "oil_npt")


def test_a_world_is_found_again_under_the_same_name(tmp_path):
    assert world_place(SCENARIO, "original", "", tmp_path) == world_place(SCENARIO, "original", "", tmp_path)


def test_two_sites_give_the_same_world_different_names(tmp_path):
    names = {world_place(SCENARIO, "original", "", tmp_path / site).name for site in ("one", "two")}
    assert len(names) == 2
    assert world_key(SCENARIO, "original", "")[:40] not in names


def test_every_task_and_salt_has_a_place_of_its_own(tmp_path):
    places = {world_place(SCENARIO, task, salt, tmp_path) for task in SCENARIO.task_ids for salt in ("", "s")}
    assert len(places) == 2 * len(SCENARIO.task_ids)


def test_many_processes_at_once_agree_on_the_caches_key(tmp_path):
    with ThreadPoolExecutor(16) as many:
        places = set(many.map(lambda _: world_place(SCENARIO, "original", "", tmp_path / "cache"), range(64)))
    assert len(places) == 1
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [".key"]


def test_what_a_killed_build_left_is_removed_by_the_next_one(tmp_path):
    left = tmp_path / "building-left"
    left.mkdir()
    (left / "meta.json").write_text("{}")
    with _building(tmp_path) as mine:
        assert not left.exists()
        (mine / "data").mkdir()
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_goes_on_is_left_alone_by_another(tmp_path):
    with _building(tmp_path) as first, _building(tmp_path) as second:
        assert first.is_dir()
        assert second.is_dir()
        assert first != second


def test_a_world_that_was_renamed_into_place_stays(tmp_path):
    with _building(tmp_path) as building:
        building.rename(tmp_path / "world")
    assert (tmp_path / "world").is_dir()


@pytest.mark.parametrize("taken_before", ["it was opened", "its lock was held"])
def test_a_directory_that_another_build_took_for_a_left_one_is_made_again(tmp_path, monkeypatch, taken_before):
    make, lock, taken = cache.tempfile.mkdtemp, cache.fcntl.flock, []

    def made(**named):
        directory = make(**named)
        if taken_before == "it was opened" and not taken:
            taken.append(directory)
            Path(directory).rmdir()
        return directory

    def locked(handle, how):
        if taken_before == "its lock was held" and not taken:
            taken.extend(tmp_path.glob("building-*"))
            taken[0].rmdir()
        lock(handle, how)

    monkeypatch.setattr(cache.tempfile, "mkdtemp", made)
    monkeypatch.setattr(cache.fcntl, "flock", locked)
    with _building(tmp_path) as mine:
        assert taken
        assert mine.is_dir()
        assert mine not in map(Path, taken)
