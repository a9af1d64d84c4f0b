"""A scenario that is broken in a way no loader sees is refused at once, in one line that names the place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from fdegym.authoring.admission import pool
from fdegym.authoring.ground import sound_scenario
from scenarios.kit.errors import ScenarioInvalid
from tests.authoring.toy import NAME, write_solution, write_toy

NOTE = Path("solutions/shortcuts/always_net/solution.toml")


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.SCENARIO_DIRS = [tmp_path]
    return write_toy(tmp_path)


def put_in_place(path: Path, make: Callable[[Path], object]) -> None:
    """Instead of the file that is there."""
    path.unlink(missing_ok=True)
    make(path)


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def write_note_alone(solution: Path) -> None:
    solution.mkdir()
    (solution / "solution.toml").write_text('why = "x"')


#: Breaks a toy → file and place, and the words that are said.
BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link out of the folder": (
        lambda toy: (toy / "solutions/reference/system/x").symlink_to("/etc/passwd"),
        "solutions/reference/system/x: is a link",
    ),
    "a link to a folder": (lambda toy: (toy / "docs/etc").symlink_to("/etc"), "docs/etc: is a link"),
    "a pipe, on which a reader waits": (lambda toy: put_in_place(toy / NOTE, os.mkfifo), f"{NOTE}: is a pipe"),
    "a folder for a file": (lambda toy: put_in_place(toy / NOTE, Path.mkdir), f"{NOTE}: is a folder"),
    "a file for a folder": (
        lambda toy: (shutil.rmtree(toy / "solutions/literal/system"), (toy / "solutions/literal/system").touch()),
        "solutions/literal/system: is a file where a folder is read",
    ),
    "TOML without end": (lambda toy: (toy / NOTE).write_text(f'x = "{"x" * 2_000_000}"'), f"{NOTE}: 2000006 bytes"),
    "TOML nested without end": (
        lambda toy: (toy / NOTE).write_text(f"x = {'[' * 9000}{']' * 9000}"),
        f"{NOTE}: not valid TOML: nested too deeply",
    ),
    "bytes that are no text": (lambda toy: (toy / NOTE).write_bytes(b'why = "\xff"'), f"{NOTE}: not valid TOML"),
    "a value of another kind": (lambda toy: (toy / NOTE).write_text("why = 3"), f"{NOTE}: why: "),
    "a solution named for a group of work": (
        lambda toy: write_solution(toy, "shortcuts/battery", "0", why="x"),
        "solutions/shortcuts/battery: this name has a meaning of its own",
    ),
    "a solution named for a check": (
        lambda toy: write_solution(toy, "shortcuts/leaks", "0", why="x"),
        "solutions/shortcuts/leaks: this name has a meaning of its own",
    ),
    "one name of two solutions": (
        lambda toy: write_solution(toy, "bypasses/always_net", "0", why="x"),
        "solutions/bypasses/always_net: another solution has this name",
    ),
    "a name that cannot be typed": (
        lambda toy: write_solution(toy, "shortcuts/a\nb", "0", why="x"),
        r"solutions/shortcuts/a\nb: the name has characters that cannot be seen",
    ),
    "a solution that is none": (
        lambda toy: write_note_alone(toy / "solutions/shortcuts/idle"),
        "solutions/…/idle: on original it lays no file over system/",
    ),
    "a task's name mistyped": (
        lambda toy: (toy / "solutions/reference/kept").rename(toy / "solutions/reference/kempt"),
        "solutions/reference/kempt: is read by nothing",
    ),
    "a fact that is no fact": (
        lambda toy: replace(toy / "facts.toml", "[facts]", "[facts]\nsince = 2026-01-01\nmost = inf"),
        "facts.toml: facts.since: 2026-01-01 cannot be told to a grader",
    ),
    "a pattern that is none": (
        lambda toy: replace(toy / "scenario.toml", "[replay]", '[admission]\nhidden = ["("]\n\n[replay]'),
        "scenario.toml: admission.hidden[0]: not a regular expression",
    ),
    "a pattern that one message can keep busy": (
        lambda toy: replace(
            toy / "scenario.toml", "[replay]", "[records.slip]\nabout = \"x\"\npattern = 'S(\\d+-?)+Z'\n\n[replay]"
        ),
        "scenario.toml: records.slip.pattern: can be read in too many ways",
    ),
    "a limit of nothing": (
        lambda toy: replace(toy / "scenario.toml", "call_cpu_s = 2", "call_cpu_s = -2"),
        "scenario.toml: replay.call_cpu_s: -2.0 is no limit",
    ),
    "a command that is no Python": (
        lambda toy: replace(toy / "scenario.toml", 'argv = ["python", "-m", "shop.total"]', 'argv = ["sh", "total.sh"]'),
        "scenario.toml: replay.entry_points[1].argv: 'sh total.sh': a command is python -m MODULE or python FILE",
    ),
    "a task offered twice": (
        lambda toy: replace(toy / "scenario.toml", '"kept"', '"fee"'),
        "scenario.toml: offered: fee is there twice",
    ),
    "a variant called the original": (
        lambda toy: replace(toy / "facts.toml", "[variants.kept]", "[variants.original]")
        or replace(toy / "scenario.toml", '"kept", ', ""),
        "facts.toml: variants.original: no variant can have this name",
    ),
}  # fmt: skip


def test_the_toy_and_the_shipped_scenario_are_sound(folder: Path, settings: Any) -> None:
    assert sound_scenario(NAME).folder == folder
    settings.SCENARIO_DIRS = [settings.ROOT / "scenarios"]
    assert sound_scenario("oil_npt").id == "oil_npt"


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.timeout(60)
def test_what_no_loader_sees_is_said_with_its_place(broken: str, folder: Path) -> None:
    breaks, words = BROKEN[broken]
    breaks(folder)
    with pytest.raises(ScenarioInvalid) as refused:
        sound_scenario(NAME)
    said = str(refused.value).splitlines()
    assert said[0] == f"Scenario {NAME} cannot be loaded; put right:"
    assert [line for line in said if line.strip().startswith(words)], said


def test_what_this_user_may_not_read_is_said(folder: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (folder / "solutions/shortcuts").chmod(0)
    (folder / "world.py").chmod(0)
    try:
        with pytest.raises(ScenarioInvalid) as refused:
            sound_scenario(NAME)
    finally:
        (folder / "solutions/shortcuts").chmod(0o755)
    assert "solutions/shortcuts: this user may not look into it" in str(refused.value)
    assert "world.py: this user may not read it" in str(refused.value)


@pytest.mark.parametrize("command", ["admit", "lint", "battery"])
def test_no_command_begins_with_such_a_scenario(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def started(*_: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(pool, "start", started)
    (folder / "docs" / "etc").symlink_to("/etc")
    with pytest.raises(CommandError) as refused:
        call_command(command, NAME)
    assert "docs/etc: is a link" in str(refused.value) + capsys.readouterr().err
