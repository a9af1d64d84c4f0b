"""How entries are read and laid, and what the witness on the host hears, without a play."""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path
from typing import Any

import pytest

import grading.services
import workspaces.launcher.main
from fdegym.authoring.battery import entries, entry_named
from fdegym.authoring.battery.entries import EntryInvalid, EntryUnknown, read_entry
from fdegym.authoring.battery.knowledge import contents
from fdegym.authoring.battery.laying import PLACE, SYSTEM, EntryPointUnplaceable, laid_files, module_files
from fdegym.authoring.battery.witness import HostWitness
from scenarios.kit.format import EntryPoint

ACTS = '"""Acts."""\n\n\ndef before_call(bypass):\n    bypass.did("it")\n'


def test_the_battery_is_large_and_each_of_it_says_what_it_tries() -> None:
    assert len(entries()) >= 40
    assert all(len(entry.why) > 30 for entry in entries())


def test_an_entry_that_there_is_not_is_told_with_those_there_are() -> None:
    with pytest.raises(EntryUnknown, match=r"fork_bombs.*fork_bomb, "):
        entry_named("fork_bombs")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def before_call(bypass): pass\n", "docstring"),
        ('"""Does nothing."""\n', "does nothing"),
        ('"""Acts."""\nFAILS = read()\ndef before_call(bypass): pass\n', "FAILS must be a literal"),
        ('"""Acts."""\ndef before_call(:\n', "line 2"),
    ],
)
def test_an_entry_that_cannot_be_read_is_refused_in_words(source: str, words: str) -> None:
    with pytest.raises(EntryInvalid, match=words):
        read_entry("odd", source)


@pytest.mark.parametrize(
    ("argv", "files"),
    [
        (["python", "-m", "npt.close"], ["npt/close.py", "npt/close/__main__.py"]),
        (["python", "-m", "npt.close", "--fast"], ["npt/close.py", "npt/close/__main__.py"]),
        (["python", "bin/close.py"], ["bin/close.py"]),
    ],
)
def test_the_file_of_an_entry_point_follows_from_how_it_is_called(argv: list[str], files: list[str]) -> None:
    assert module_files(argv) == files


def test_before_each_entry_point_stands_the_attack_and_behind_it_the_system_as_found() -> None:
    points = [EntryPoint(name="a", argv=["python", "-m", "a"]), EntryPoint(name="b", argv=["python", "-m", "b", "-x"])]
    found = {"a.py": b"as found", "b/__main__.py": b"as found too"}
    laid = laid_files(read_entry("acts", ACTS), {}, points, found.get)
    assert laid[f"{PLACE}/found/a.py"] == b"as found"
    assert laid[f"{PLACE}/found/b/__main__.py"] == b"as found too"
    assert b"before_call" in laid[f"{SYSTEM}/a.py"]
    assert b"before_call" in laid[f"{SYSTEM}/b/__main__.py"]
    assert f"{SYSTEM}/b.py" not in laid


def test_two_entry_points_of_one_file_are_stood_before_once() -> None:
    points = [EntryPoint(name=name, argv=["python", "-m", "a", name]) for name in ("one", "two")]
    files = {"a.py": b"as found"}

    def read(path: str) -> bytes | None:
        return files.pop(path, None)

    assert laid_files(read_entry("acts", ACTS), {}, points, read)[f"{PLACE}/found/a.py"] == b"as found"


def test_an_entry_point_without_a_file_is_told() -> None:
    points = [EntryPoint(name="a", argv=["python", "-m", "a"])]
    with pytest.raises(EntryPointUnplaceable, match="holds no file"):
        laid_files(read_entry("acts", ACTS), {}, points, lambda path: None)
    with pytest.raises(EntryPointUnplaceable, match="python FILE"):
        module_files(["make", "close"])


def test_the_attack_can_tell_hidden_files_by_their_content_and_shown_ones_are_not_among_them() -> None:
    scenario = Path(__file__).parent / "stall"
    known = {digest for digests in contents(scenario, "", scenario / "system").values() for digest in digests}

    def digest(path: Path) -> str:
        return hashlib.sha256(path.read_bytes()).hexdigest()

    assert {digest(scenario / name) for name in ("grader.py", "world.py", "facts.toml")} <= known
    assert digest(scenario / "solutions" / "reference" / "system" / "bin" / "close.py") in known
    assert digest(scenario / "system" / "bin" / "close.py") not in known
    assert digest(Path(grading.services.__file__)) in known
    assert digest(Path(workspaces.launcher.main.__file__)) not in known


def speak(address: Any, family: int, kind: int) -> None:
    with socket.socket(family, kind) as speaking:
        speaking.connect(address)
        speaking.send(b"hello")


@pytest.mark.parametrize(
    ("family", "kind"),
    [(socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM), (socket.AF_UNIX, socket.SOCK_STREAM)],
)
def test_the_witness_hears_whoever_gets_through_to_the_host(family: int, kind: int) -> None:
    with HostWitness() as witness:
        assert list(witness.reached()) == []
        speak(witness.abstract if family == socket.AF_UNIX else ("127.0.0.1", witness.port), family, kind)
        assert len(list(witness.reached())) == 1


def test_the_witness_finds_what_bears_the_token(settings: Any, tmp_path: Path) -> None:
    settings.VAR = tmp_path
    with HostWitness() as witness:
        assert witness.marked() == []
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep" / f"x-{witness.token}").touch()
        assert witness.marked() == [str(tmp_path / "deep" / f"x-{witness.token}")]
