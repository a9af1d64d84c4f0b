"""The small customer as a scenario on disk, its world "built", and a matcher that knows exact phrasings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from small_customer import PEOPLE, RECORDS, SCENARIO, Matched, matched

from scenarios.kit.cache import world_place
from scenarios.kit.load import load_scenario
from stakeholders.script import Script

FACTS = """
key_facts = ["F1"]
[facts]
late_share = 0.62
[texts.F1]
title = "Doors"
text = "They open at six."
[variants.other]
angle = "authority"
differs = "Nobody may."
facts = {}
key_facts = ["F1"]
"""
PHRASINGS: Mapping[str, tuple[str, ...]] = {
    "When do doors open?": ("ada/open",),
    "Is it 62 %?": ("ada/share",),
    "What about PX-001?": ("ben/parcel",),
    "Please release it.": ("ben/release",),
}


class ExactPhrasingMatcher:
    """Knows the messages of ``PHRASINGS`` word by word, and whose topics they are; everything else matches nothing."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, script: Script, message: str, person: str) -> Matched:
        self.asked.append(message)
        if message == "Thanks!":
            return Matched(small_talk=True)
        return matched(message, *(topic for topic in PHRASINGS.get(message, ()) if topic.startswith(f"{person}/")))


def write_depot(directory: Path, world_cache: Path, salt: str = "") -> str:
    """Write the scenario below ``directory`` and its worlds' meta data; returns the release."""
    folder = directory / "depot"
    folder.mkdir(parents=True)
    for name, text in (("scenario.toml", SCENARIO), ("facts.toml", FACTS), ("stakeholders.toml", PEOPLE)):
        (folder / name).write_text(text)
    scenario = load_scenario(folder)
    for task_id in scenario.task_ids:
        place = world_place(scenario, task_id, salt, world_cache)
        place.mkdir(parents=True)
        meta = {"facts": {}, "records": RECORDS, "record_groups": {}, "sha256": "0" * 64}
        (place / "meta.json").write_text(json.dumps(meta))
    return scenario.release
