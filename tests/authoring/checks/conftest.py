"""An author with a copy of the tiny scenario, who breaks it; its code runs in the real sandbox."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scenarios.kit.load import load_scenario
from tests.grading.sides import TINY

GRADER_OF_TOTALS = '''

def told(production, guess):
    """The outcome of a delivery whose totals are what ``guess(day)`` says."""
    points = sum(1 if guess(day) == production.truth(day) else -2 for day in range(DAYS))
    return Outcome(float(points))


def oracle(task, streams):
    production = Production(task, streams)
    return told(production, production.truth)


def random_delivery(task, streams, rng):
    production = Production(task, streams)
    return told(production, lambda day: production.truth(day) if rng.random() < 0.5 else None)
'''


class Author:
    """Writes files of the scenario. Every change makes another release, so nothing built before is taken for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str | bytes) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    def append(self, name: str, text: str) -> None:
        self.write(name, (self.folder / name).read_text() + text)

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text()
        assert old in text, f"{name} has no {old!r}"
        self.write(name, text.replace(old, new))

    def check(self, check, *tasks: str):
        """The findings of a check, by task."""
        scenario = load_scenario(self.folder)
        return {finding.task: finding for finding in check.run(scenario, tasks or scenario.task_ids)}


@pytest.fixture
def author(settings, tmp_path):
    from grading.worlds import grading_runtime
    from stakeholders.scripts import compiled_script

    settings.VAR = tmp_path
    settings.SCENARIO_DIRS = [tmp_path / "authored"]
    settings.WORLD_CACHE = tmp_path / "worlds"
    settings.CACHE_DIR = tmp_path / "cache"
    settings.DESK_DIR = tmp_path / "desk"
    settings.TRUST_ANCHORS = False
    folder = tmp_path / "authored" / TINY.name
    shutil.copytree(TINY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    author = Author(folder)
    author.replace("grader.py", "import DAYS, as_csv", "import DAYS, Production, as_csv")
    author.append("grader.py", GRADER_OF_TOTALS)
    for level, text in {"L0": "All of it.", "L1": "The problem.", "L2": "Vaguely.", "L3": "Do as I say."}.items():
        author.write(f"briefs/{level}.md", f"{text}\n")
    grading_runtime.cache_clear()
    compiled_script.cache_clear()
    yield author
    grading_runtime.cache_clear()
    compiled_script.cache_clear()
