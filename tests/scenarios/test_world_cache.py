"""Where built worlds lie: found again, built once, under names that tell nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scenarios.kit.cache import world_key, world_place
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
