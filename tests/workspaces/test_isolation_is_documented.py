"""``docs/isolation.md`` is complete: every limit, option and refused call of the code is in it, with a test that exists."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pytest

from fdegym.env import VARIABLES
from tests.isolation.battery import everything
from tests.isolation.programs import everything as programs
from workspaces.keeper.server import KeeperSettings
from workspaces.launcher import archive, children, files, main
from workspaces.runtime import layout, seccomp
from workspaces.runtime.base import CallLimits, Limits, SandboxSpec
from workspaces.terminal import record

TESTS = Path(__file__).resolve().parents[1]
TEXT = (TESTS.parent / "docs" / "isolation.md").read_text()
BATTERY = TEXT.partition("## The battery")[2].partition("\n## ")[0]


def rows_of(text: str) -> list[list[str]]:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")
    ]
    return [row for row in rows if row[0] not in ("limit", "property", "---")]


ROWS = rows_of(TEXT.replace(BATTERY, ""))
ATTEMPTS = {name for attempts in everything().values() for name in attempts}
NAMED = set(re.findall(r"`([^`\n]+)`", TEXT))
#: Files whose every test is a limit, a property or a part of the battery, and so has its place.
FILES = ["workspaces/test_isolation.py", "workspaces/test_what_is_seen.py", "workspaces/test_limits.py"]
FILES += [f"isolation/{path.name}" for path in sorted((TESTS / "isolation").glob("test_*.py"))]


def named_in(path: Path) -> set[str]:
    return set(re.findall(r"^ *(?:async )?def (test_\w+)\(", path.read_text(), re.MULTILINE))


@pytest.mark.parametrize("limits", [Limits(), CallLimits()], ids=lambda limits: type(limits).__name__)
def test_every_limit_is_in_a_table_with_its_value(limits: Limits | CallLimits) -> None:
    for field in fields(limits):
        name = f"`{type(limits).__name__}.{field.name}`"
        assert any(row[0].startswith(name) and row[1] == str(getattr(limits, field.name)) for row in ROWS), name


def test_limits_that_are_no_field_are_said_as_they_are() -> None:
    said = {row[0]: row[1] for row in ROWS}
    assert said["depth of folders that are saved"] == str(archive.DEPTH_MAX)
    assert said["a saving, comparing or packing"] == f"{main.JOB_WALL_S:g} s"
    assert said["names in one answer"] == f"{files.NAMES_BYTES_MAX:,} bytes"
    assert said["a terminal's record"] == f"{record.LIMIT_BYTES >> 20} MiB"
    assert said["nobody asked anything of it"] == f"{SandboxSpec().abandon_after_s / 3600:g} hours"
    shells = next(field.default for field in fields(KeeperSettings) if field.name == "terminals_max")
    assert said["shells, and records of terminals"] == f"{shells}, and {2 * shells}"
    assert f"of {layout.SHM_INODES:,} files" in TEXT
    assert said["terminals that programs open"] == str(layout.TERMINALS_MAX)
    instances, folders = layout.WATCHES_MAX.values()
    assert said["watches of folders"] == f"{instances} instances, {folders:,} folders"


def test_every_row_has_a_test_or_an_attempt_that_exists() -> None:
    known = {name for path in TESTS.rglob("test_*.py") for name in named_in(path)}
    for row in ROWS:
        cited = set(re.findall(r"`(\w+)`", row[-1]))
        assert cited, row[0]
        assert cited <= known | ATTEMPTS, row[0]
    assert {name for name in NAMED if name.startswith("test_")} - known == set()


def test_the_battery_is_counted_as_it_is() -> None:
    counted = {row[0]: row[1] for row in rows_of(BATTERY.partition("An attempt is")[0]) if row[1].isdecimal()}
    assert counted == {kind: str(len(attempts)) for kind, attempts in everything().items()}
    controlled = [attempt for attempt in programs.ATTEMPTS.values() if attempt.control]
    assert len(controlled) > len(programs.ATTEMPTS) / 2, "more than half are said to succeed elsewhere"


@pytest.mark.parametrize("name", FILES)
def test_every_test_of_a_limit_or_a_property_has_its_place(name: str) -> None:
    assert named_in(TESTS / name) - NAMED == set()


def test_every_rlimit_is_named() -> None:
    assert set(re.findall(r"RLIMIT_\w+", inspect.getsource(children.apply_bounds))) <= NAMED


def test_every_option_of_the_sandbox_is_named(tmp_path: Path) -> None:
    for name in ("etc", "empty", "local"):
        (tmp_path / name).mkdir()
    places = layout.Places(*(tmp_path / name for name in ("s", "shm", "etc", "local", "empty", "nothing", "terminals")))
    arguments = layout.sandbox_arguments(SandboxSpec(), places, seccomp_fd=3, info_fd=4, new_pid_1=True)
    assert {argument for argument in arguments if argument.startswith("--")} <= NAMED


def test_every_refused_call_is_named_and_no_other() -> None:
    paragraph = TEXT.partition("**Calls that the kernel refuses**")[2].partition("By their arguments:")[0]
    assert set(re.findall(r"`(\w+)`", paragraph)) == set(seccomp.REFUSED)
    by_arguments = {name for name, value in vars(seccomp).items() if name.isupper() and isinstance(value, tuple)}
    assert by_arguments <= NAMED


def test_everything_hidden_in_proc_is_named() -> None:
    assert {*layout.MASKED_FILES, *(f"{name}/" for name in layout.MASKED_FOLDERS)} <= NAMED


def test_the_limits_of_a_host_are_those_of_its_environment() -> None:
    assert {name for name in VARIABLES if name.startswith("FDEGYM_WORKSPACES")} == {
        row[0].strip("`") for row in ROWS if row[0].startswith("`FDEGYM_")
    }
