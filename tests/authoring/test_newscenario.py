"""``manage.py newscenario``: a folder to begin with that is complete, a draft, and passes what is asked of scenarios."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from fdegym.authoring.copying import TEMPLATE
from fdegym.authoring.lint import lint
from scenarios.kit.load import find_scenario, load_scenario
from tests.e2e.stack import CHECKOUT, clean_environment

MINE = "my_trade"


@pytest.fixture
def private(settings: Any, tmp_path: Path) -> Path:
    """The author's own directory, which the site knows."""
    directory = tmp_path / "private"
    directory.mkdir()
    settings.SCENARIO_DIRS = [settings.ROOT / "scenarios", directory]
    return directory


@pytest.fixture
def built_without_a_sandbox(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from grading import worlds
    from scenarios.kit.build import build

    settings.WORLD_CACHE, settings.VAR = tmp_path / "worlds", tmp_path
    monkeypatch.setattr(worlds, "build_in_sandbox", lambda runtime, scenario, *rest: build(scenario.folder, *rest))
    worlds.grading_runtime.cache_clear()
    yield
    worlds.grading_runtime.cache_clear()


def test_it_lies_in_the_private_directory_under_its_own_name_everywhere(private: Path, capsys: Any) -> None:
    call_command("newscenario", MINE)
    files = [path for path in (private / MINE).rglob("*") if path.is_file()]
    assert not [path for path in files if TEMPLATE.encode() in path.read_bytes()]
    assert {"anchors.json", "matcher.npz"}.isdisjoint(path.name for path in files)
    assert [path.name for path in private.iterdir()] == [MINE]
    said = capsys.readouterr().out
    for command in ("lint", "preview", "admit"):
        assert f"    python3 manage.py {command} {MINE}" in said


def test_it_is_a_draft_whatever_the_template_is(private: Path) -> None:
    call_command("newscenario", MINE)
    config = load_scenario(private / MINE).config
    assert (config.id, config.status, config.signoff) == (MINE, "draft", None)


def test_nothing_is_to_be_put_right_in_it(private: Path, built_without_a_sandbox: None) -> None:
    call_command("newscenario", MINE)
    assert [str(problem) for problem in lint(find_scenario(MINE, [private]))] == []


@pytest.mark.parametrize("name", ["Mine", "9lives", "a", "my-trade", "../up", "x" * 65, "kit", "oil_npt", "battery"])
def test_a_name_that_cannot_be_or_is_taken_is_refused_in_words(private: Path, name: str) -> None:
    with pytest.raises(CommandError, match=r"is no id|is taken"):
        call_command("newscenario", name)
    assert list(private.iterdir()) == []


def test_what_is_there_is_never_written_over(private: Path) -> None:
    (private / MINE).mkdir()
    (private / MINE / "notes.txt").write_text("mine")
    with pytest.raises(CommandError, match="choose another id"):
        call_command("newscenario", MINE)
    assert [path.name for path in (private / MINE).iterdir()] == ["notes.txt"]


def test_a_directory_that_is_not_there_is_named(private: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is no directory"):
        call_command("newscenario", MINE, "--directory", str(tmp_path / "nowhere"))


def test_a_directory_that_may_not_be_written_is_named(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fdegym.authoring.copying.os.access", lambda *_: False)
    with pytest.raises(CommandError, match="may not write"):
        call_command("newscenario", MINE, "--directory", str(private))


def test_a_full_disk_leaves_nothing(private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fdegym.authoring.copying._rename", full)
    with pytest.raises(CommandError, match="nothing is left of it"):
        call_command("newscenario", MINE)
    assert list(private.iterdir()) == []


def test_a_directory_that_the_site_does_not_know_is_told_to_the_next_commands(
    private: Path, tmp_path: Path, capsys: Any
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    call_command("newscenario", MINE, "--directory", str(other))
    assert (other / MINE / "scenario.toml").is_file()
    assert f"SCENARIO_DIRS={other} python3 manage.py lint {MINE}" in capsys.readouterr().out


@pytest.mark.sandbox
@pytest.mark.timeout(1200)
def test_its_solutions_play_in_the_real_sandbox(private: Path, tmp_path: Path) -> None:
    """Worlds, system, grader and imports all go by the new name."""
    call_command("newscenario", MINE)
    done = subprocess.run(
        [sys.executable, "manage.py", "admit", MINE, "--task", "original", "--only", "literal", "--only", "look_ahead"],
        cwd=CHECKOUT,
        env=clean_environment(FDEGYM_VAR=str(tmp_path / "var"), SCENARIO_DIRS=str(private)),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILS" not in done.stdout
