"""The market stall of the grading tests with a trial: three evenings of its own, and what Ada notices at the cash box."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.grading.sides import TINY

TRIAL = """
[trial]
prices = [0.03, 0.05]
quiet = "Ada: the totals fitted the cash box."
names.evening = ["the first evening", "the second evening", "the third evening"]
[trial.sentences]
wrong = "Ada: {evenings} totals did not fit the cash box, {evening} for one."
missing = "Ada: I had {evenings} evenings without any total."
"""
SHADOW = """

def shadow(task, streams):
    production = Production(task, streams)
    production.days = days(streams, "shadow")[:3]
    return production
"""
TRY = """

EVENINGS = ["the first evening", "the second evening", "the third evening"]


def trial(production, host):
    wrong, missing = [], 0
    for day, amounts in enumerate(production.days):
        host.progress(day, 3, f"evening {day + 1}")
        drop = host.put_drop("drop", {"sales.csv": as_csv(amounts)})
        host.call(["python", "-m", "shop.record", "--drop", drop, "--day", str(day)])
        host.call(["python", "-m", "shop.total", "--day", str(day)])
        total = parsed(host.read(f"outbox/total_{day}.txt", 100))
        missing += total is None
        if total is not None and total != production.truth(day):
            wrong.append(EVENINGS[day])
    found = [("wrong", {"evenings": len(wrong), "evening": wrong[:1]})] if wrong else []
    return found + ([("missing", {"evenings": missing})] if missing else [])
"""


def write_stall(directory: Path) -> Path:
    """The stall below ``directory``; returns its folder. Every file may be changed."""
    folder = directory / TINY.name
    shutil.copytree(TINY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in (("scenario.toml", TRIAL), ("world.py", SHADOW), ("grader.py", TRY)):
        (folder / name).write_text((folder / name).read_text() + text)
    return folder
