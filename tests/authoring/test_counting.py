"""What lint counts in a folder before anything is played, and what it says of files that it could not look at yet."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from fdegym.authoring.counting import counted
from scenarios.kit.load import load_scenario
from tests.authoring.toy import NAME, write_sound_toy

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted(path.parent.name for path in (ROOT / "scenarios").glob("*/scenario.toml"))


@pytest.fixture
def folder(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    from grading import worlds
    from scenarios.kit.build import build

    settings.SCENARIO_DIRS, settings.WORLD_CACHE, settings.VAR = [tmp_path], tmp_path / "worlds", tmp_path / "var"
    monkeypatch.setattr(worlds, "build_in_sandbox", lambda runtime, scenario, *rest: build(scenario.folder, *rest))
    worlds.grading_runtime.cache_clear()
    yield write_sound_toy(tmp_path)
    worlds.grading_runtime.cache_clear()


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def without_a_variant(folder: Path) -> None:
    facts = folder / "facts.toml"
    facts.write_text(facts.read_text().partition("[variants.fee]")[0])
    replace(folder / "scenario.toml", '"kept", "fee"]', '"kept"]')
    for below in ("reference", "ablations/no_returns"):
        shutil.rmtree(folder / "solutions" / below / "fee")


@pytest.mark.parametrize("name", SHIPPED)
def test_of_what_is_shipped_there_is_enough(name: str, settings: Any) -> None:
    settings.SCENARIO_DIRS = [ROOT / "scenarios"]
    assert [str(problem) for problem in counted(load_scenario(ROOT / "scenarios" / name))] == []


def test_of_the_toy_there_is_enough(folder: Path) -> None:
    assert counted(load_scenario(folder)) == []


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (without_a_variant, "facts.toml: variants: 1; admission wants at least 2"),
        (
            lambda toy: shutil.rmtree(toy / "solutions/shortcuts/off_by_2"),
            "solutions: 7 shortcuts where at least 8 are wanted: add solutions/shortcuts/<name>.",
        ),
        (
            lambda toy: shutil.rmtree(toy / "solutions/bypasses/letter"),
            "solutions: 2 bypasses where at least 3 are wanted: add solutions/bypasses/<name>.",
        ),
        (
            lambda toy: replace(
                toy / "solutions/ablations/no_returns/solution.toml", "why", 'on = ["fee", "kept"]\nwhy'
            ),
            "solutions/ablations: no solution lacks the rule of key fact F1 alone on original; admission prices each rule "
            "so",
        ),
        (
            lambda toy: shutil.rmtree(toy / "solutions/reference/fee"),
            "solutions/reference: 1 of 2 variants have a folder of their own, and what is right on the original is right "
            "on the others; admission wants at least 2 on which it is not",
        ),
        (
            lambda toy: replace(toy / "scenario.toml", '"kept", "fee"]', '"kept"]'),
            "scenario.toml: offered: `offered` of scenario.toml lacks fee: a scenario is admitted, and drawn from, whole",
        ),
    ],
)
def test_what_there_is_too_little_of_is_named(spoil: Callable[[Path], object], words: str, folder: Path) -> None:
    spoil(folder)
    assert [str(problem) for problem in counted(load_scenario(folder))] == [words]


def test_lint_counts_problems_and_names_what_they_keep_it_from(folder: Path, capsys: Any) -> None:
    replace(folder / "stakeholders.toml", "Look at the book.", "Look at the {{ book }} in {{ town }}.")
    (folder / "SOURCES.md").unlink()
    shutil.rmtree(folder / "solutions/bypasses/letter")
    with pytest.raises(CommandError, match=r"^3 to put right\.$"):
        call_command("lint", NAME)
    told = capsys.readouterr().err.splitlines()
    assert sum(line.startswith(f"{NAME}/") for line in told) == 3
    assert f"{NAME}: not looked at yet, because of these: phrasings.toml" in told
    assert any(
        re.search("not looked at yet.*stakeholders.toml and conversations on original, kept, fee", line)
        for line in told
    )


def test_problems_of_a_manifest_are_counted_one_by_one(folder: Path, capsys: Any) -> None:
    replace(folder / "scenario.toml", "[replay]", "[replay]\nfirst = 1\nsecond = 2")
    with pytest.raises(CommandError, match=r"^2 to put right\.$"):
        call_command("lint", NAME)
    told = capsys.readouterr().err
    assert f"{NAME}/scenario.toml: replay.first: " in told
    assert "not looked at yet, because of these: world and grader" in told


def test_what_is_enough_and_sound_is_said_so(folder: Path, capsys: Any) -> None:
    call_command("lint", NAME)
    assert f"{NAME}: nothing to put right, release " in capsys.readouterr().out
