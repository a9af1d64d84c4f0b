"""``manage.py install-scenario``: a scenario that somebody sent is in place whole, or nothing was changed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from fdegym.catalog.scenarios import scenarios
from scenarios.kit.load import load_scenario
from tests.authoring.toy import NAME, write_sound_toy


class Operator:
    """Somebody with a site that has a directory for private scenarios, and an archive in the post."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.directory = root / "private"
        self.directory.mkdir()
        self.worlds = root / "worlds"
        self.sent = write_sound_toy(root / "sent")
        self.archive = root / "sent.tar.gz"
        self._capsys = capsys

    def pack(self, folder: Path | None = None) -> None:
        with tarfile.open(self.archive, "w:gz") as archive:
            for path in sorted((folder or self.sent.parent).iterdir()):
                archive.add(path, arcname=path.name)

    def install(self, *options: str, archive: Path | None = None) -> str:
        if archive is None:
            self.pack()
        call_command("install-scenario", str(archive or self.archive), *options)
        return self._capsys.readouterr().out

    def refused(self, *options: str) -> str:
        with pytest.raises(CommandError) as refused:
            self.install(*options)
        assert "is not installed, nothing was changed" in str(refused.value)
        return str(refused.value)

    def held(self) -> dict[str, bytes]:
        """All that lies in the private directory."""
        files = (path for path in sorted(self.directory.rglob("*")) if not path.is_dir())
        return {path.relative_to(self.directory).as_posix(): path.read_bytes() for path in files}

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.sent / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))


@pytest.fixture
def operator(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Operator]:
    """Worlds are built in this process; how a sandbox ends what it builds is tested apart."""
    from grading import worlds
    from scenarios.kit.build import build

    one = Operator(tmp_path, capsys)
    settings.SCENARIO_DIRS = [settings.ROOT / "scenarios", one.directory]
    settings.WORLD_CACHE, settings.VAR = one.worlds, tmp_path / "var"
    monkeypatch.setattr(worlds, "build_in_sandbox", lambda runtime, scenario, *rest: build(scenario.folder, *rest))
    worlds.grading_runtime.cache_clear()
    yield one
    worlds.grading_runtime.cache_clear()


def test_a_scenario_that_was_sent_is_offered_and_says_what_comes_next(operator: Operator) -> None:
    (operator.sent / "anchors.json").write_text("{}")
    said = operator.install()
    installed = load_scenario(operator.directory / NAME)
    assert f"installed in {operator.directory}, release {installed.release[:12]}" in said
    assert "offers it now" in said
    assert f"manage.py admit {NAME}" in said
    assert installed.release == load_scenario(operator.sent).release
    assert not (installed.folder / "anchors.json").exists()
    assert NAME in [card.id for card in scenarios()]
    assert [path.name for path in operator.directory.iterdir()] == [NAME]


def test_a_zip_will_do_and_a_draft_is_not_offered(operator: Operator, tmp_path: Path) -> None:
    operator.edit("scenario.toml", f'id = "{NAME}"', f'id = "{NAME}"\nstatus = "draft"')
    made = tmp_path / "sent.zip"
    with zipfile.ZipFile(made, "w") as archive:
        for path in sorted(operator.sent.parent.rglob("*")):
            archive.write(path, path.relative_to(operator.sent.parent).as_posix())
    assert "does not offer it yet" in operator.install(archive=made)
    assert NAME not in [card.id for card in scenarios()]


def test_one_that_is_there_is_replaced_when_asked_and_only_then(operator: Operator) -> None:
    operator.install()
    before = operator.held()
    (operator.sent / "SOURCES.md").write_text("Others.\n")
    assert "--replace" in operator.refused()
    assert operator.held() == before
    assert f"{NAME}: replaced" in operator.install("--replace")
    assert operator.held() == {**before, f"{NAME}/SOURCES.md": b"Others.\n"}
    assert [path.name for path in operator.directory.iterdir()] == [NAME]


Break = Callable[[Operator], object]
BROKEN: dict[str, tuple[Break, str]] = {
    "no TOML": (lambda one: (one.sent / "scenario.toml").write_text("id ="), "scenario.toml: not valid TOML"),
    "no model": (lambda one: one.edit("scenario.toml", "[kpi]", "[kpis]"), "scenario.toml: kpi"),
    "another id": (lambda one: one.edit("scenario.toml", NAME, "other"), "they must be the same"),
    "no manifest": (lambda one: (one.sent / "scenario.toml").unlink(), "scenario.toml: the file is missing"),
    "lint": (lambda one: (one.sent / "SOURCES.md").unlink(), "SOURCES.md: the file is missing"),
    "no name": (lambda one: one.sent.rename(one.sent.with_name("No-Name")), "small letters"),
    "nothing": (lambda one: shutil.rmtree(one.sent), "this one has nothing"),
    "two": (lambda one: shutil.copytree(one.sent, one.sent.with_name("other")), "one folder"),
    "a file beside": (lambda one: (one.sent.parent / "README").write_text("x"), "one folder"),
    "a link": (lambda one: (one.sent / "docs" / "x").symlink_to("/etc/passwd"), "is a link"),
    "the kit": (lambda one: one.sent.rename(one.sent.with_name("kit")), "the name is taken"),
    "a shipped one": (lambda one: one.sent.rename(one.sent.with_name("oil_npt")), "the name is taken"),
}


@pytest.mark.parametrize(("spoil", "why"), BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("replacing", [False, True])
def test_what_is_broken_changes_nothing(operator: Operator, spoil: Break, why: str, replacing: bool) -> None:
    if replacing:
        operator.install()
    before = operator.held()
    spoil(operator)
    assert why in operator.refused(*(["--replace"] if replacing else []))
    assert operator.held() == before
    assert {path.name for path in operator.directory.iterdir()} == ({NAME} if replacing else set())


def test_nothing_is_kept_of_the_worlds_of_one_that_was_refused(operator: Operator) -> None:
    (operator.sent / "SOURCES.md").unlink()
    operator.refused()
    assert not list(operator.worlds.glob("*/meta.json"))


def test_worlds_of_one_that_is_there_stay(operator: Operator) -> None:
    operator.install()
    built = set(operator.worlds.glob("*/meta.json"))
    (operator.sent / "SOURCES.md").unlink()
    operator.refused("--replace")
    assert built
    assert set(operator.worlds.glob("*/meta.json")) == built


def test_a_disk_that_is_full_changes_nothing(operator: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(entry: object, target: Path) -> None:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr("fdegym.authoring.unpacking._copy", full_disk)
    assert "No space left" in operator.refused()
    assert list(operator.directory.iterdir()) == []


def test_what_a_killed_installation_left_is_removed_and_is_no_scenario(operator: Operator) -> None:
    shutil.copytree(operator.sent, operator.directory / ".installing-left" / NAME)
    assert NAME not in [card.id for card in scenarios()]
    operator.install()
    assert [path.name for path in operator.directory.iterdir()] == [NAME]


def test_two_at_once_do_not_mix(operator: Operator) -> None:
    handle = os.open(operator.directory, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert "Another installation" in operator.refused()
    finally:
        os.close(handle)
    operator.install()


def test_without_a_private_directory_it_says_how_to_have_one(operator: Operator, settings: Any) -> None:
    settings.SCENARIO_DIRS = [settings.ROOT / "scenarios"]
    assert "SCENARIO_DIRS" in operator.refused()


def test_a_directory_that_cannot_be_written_is_named(operator: Operator) -> None:
    operator.directory.chmod(0o555)
    try:
        assert f"{operator.directory}, the first of SCENARIO_DIRS, cannot be written" in operator.refused()
    finally:
        operator.directory.chmod(0o755)


@pytest.mark.sandbox
def test_a_world_that_fails_looks_around_or_loops_changes_nothing(
    operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    from grading import trusted, worlds

    monkeypatch.setattr(worlds, "build_in_sandbox", trusted.build_in_sandbox)
    world, document = operator.sent / "world.py", operator.sent / "docs" / "book.md"
    words = document.read_text()
    document.write_text(f"{words}\n{{{{ nobody }}}}\n")
    assert "docs/book.md: line" in operator.refused()
    document.write_text(words)
    text = world.read_text()
    world.write_text(f"{text}\nprint(open({str(operator.archive)!r}).read())\n")
    assert "could not be built" in operator.refused()
    monkeypatch.setattr(trusted, "BUILD_WALL_S", 2.0)
    world.write_text(f"{text}\nwhile True:\n    pass\n")
    assert "took longer" in operator.refused()
    assert operator.held() == {}
    assert not [path for path in operator.worlds.glob("*") if path.name != ".key"]
