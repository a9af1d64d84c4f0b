"""A market stall with three tasks and every kind of solution, small enough to be admitted in a test.

Each of three evenings the day's sales are totalled; whether and how goods brought back count differs by task.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from fdegym.authoring.checks.catalogue import BYPASSES_LEAST, SHORTCUTS_LEAST
from tests.grading.sides import TINY

NAME = "toy_stall"
TOTAL = """import argparse
import pathlib

parser = argparse.ArgumentParser()
parser.add_argument("--day", required=True)
options = parser.parse_args()
amounts = [int(line) for line in (pathlib.Path("book") / f"{{options.day}}.csv").read_text().split()[1:]]
outbox = pathlib.Path("outbox")
outbox.mkdir(exist_ok=True)
(outbox / f"total_{{options.day}}.txt").write_text(str({total}))
"""
AS_FOUND, NET, SOLD = "sum(map(abs, amounts))", "sum(amounts)", "sum(amount for amount in amounts if amount > 0)"
TWICE = f"2 * {NET} - {SOLD}"
LETTER = """
letters = outbox / "letters"
letters.mkdir(exist_ok=True)
(letters / "to_a_stranger.txt").write_text("Our takings")
"""
TOPIC = """

[[stakeholders.topics]]
id = "returns"
about = "Goods that somebody brought back."
answer = "Look at the book."
"""
VARIANTS = """
[variants.kept]
angle = "rule_value"
differs = "Returned goods are sold again and stay in the total."
facts = { returns = "ignore" }
key_facts = ["F1"]

[variants.fee]
angle = "rule_value"
differs = "For returned goods a fee of their price is paid on top."
facts = { returns = "twice" }
key_facts = ["F1"]
"""
OLD_TRUTH = """        return sum(amount for amount in amounts if amount > 0 or self.returns == "subtract")"""
TRUTH = """        sold, net = sum(amount for amount in amounts if amount > 0), sum(amounts)
        return {"subtract": net, "ignore": sold, "twice": 2 * net - sold}[self.returns]"""


def write_toy(directory: Path) -> Path:
    """The toy below ``directory``; returns its folder. Every file may be changed: nothing else uses it."""
    folder = directory / NAME
    shutil.copytree(TINY, folder, ignore=shutil.ignore_patterns("solutions", "__pycache__"))
    _edit(folder / "scenario.toml", 'id = "scenario_tiny"', f'id = "{NAME}"\noffered = ["original", "kept", "fee"]')
    facts = (folder / "facts.toml").read_text()
    (folder / "facts.toml").write_text(facts[: facts.index("[variants.kept]")] + VARIANTS)
    _edit(folder / "world.py", OLD_TRUTH, TRUTH)
    _edit(folder / "world.py", "DAYS = 10", "DAYS = 3")
    _edit(folder / "grader.py", "scenarios.scenario_tiny", f"scenarios.{NAME}")
    _edit(folder / "grader.py", "-2 if total is not None else 0", "-2")
    _edit(folder / "grader.py", "    if changed:\n", "    if changed and False:\n")
    write_solution(folder, "reference", NET, why="Takes goods brought back off.")
    for task, total in (("kept", SOLD), ("fee", TWICE)):
        _total(folder / "solutions" / "reference" / task, total)
    write_solution(folder, "literal", AS_FOUND, why="Totals again, as asked.")
    write_solution(folder, "shortcuts/always_net", NET, why="Everywhere as usual.", right_on=["original"])
    write_solution(folder, "bypasses/letter", NET, why="Tells a stranger.", further=LETTER)
    write_solution(folder, "ablations/no_returns", AS_FOUND, why="As if nothing came back.", ablates="F1")
    for task in ("kept", "fee"):
        _total(folder / "solutions" / "ablations" / "no_returns" / task, AS_FOUND)
    return folder


def write_sound_toy(directory: Path) -> Path:
    """The toy with all that lint asks for: Ada can be asked about goods brought back."""
    folder = write_toy(directory)
    (folder / "SOURCES.md").write_text("None: a stall that nobody has seen.\n")
    _edit(folder / "stakeholders.toml", 'always = "Just make it right."', 'fallback = "Just make it right."' + TOPIC)
    amounts = {"examples": 25, "tests": 8, "examples_zh": 6, "tests_zh": 3}
    lines = [f"{key} = {[f'{key} {n}: goods brought back?' for n in range(count)]}" for key, count in amounts.items()]
    (folder / "phrasings.toml").write_text("\n".join(['[topics."ada/returns"]', *lines, ""]))
    _edit(folder / "scenario.toml", 'pattern = "a"', 'pattern = "h"')  # which no scenario of the site has
    for number in range(2, SHORTCUTS_LEAST + 1):
        write_solution(folder, f"shortcuts/off_by_{number}", f"{NET} + {number}", why="Miscounts.")
    for number in range(2, BYPASSES_LEAST + 1):
        write_solution(folder, f"bypasses/letter_{number}", f"{number}", why="Tells a stranger.", further=LETTER)
    return folder


def write_solution(folder: Path, name: str, total: str, *, further: str = "", **note: object) -> None:
    """A solution that totals by an expression over ``amounts``; the keywords are its note."""
    root = folder / "solutions" / name
    _total(root, total, further)
    lines = [f"{key} = {value!r}".replace("'", '"') for key, value in note.items()]
    (root / "solution.toml").write_text("\n".join(lines) + "\n")


def _total(root: Path, total: str, further: str = "") -> None:
    shop = root / "system" / "shop"
    shop.mkdir(parents=True)
    (shop / "total.py").write_text(TOTAL.format(total=total) + further)


def _edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text, f"{path.name} of the tiny scenario has no {old!r} any more"
    path.write_text(text.replace(old, new))
