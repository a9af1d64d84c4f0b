"""Whatever lies in the place of a scenario's file is a problem of that scenario alone, in words."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from scenarios.kit.errors import ScenarioInvalid
from scenarios.kit.load import read_toml

IN_PLACE: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (os.mkfifo, "is no file"),
    "a folder": (Path.mkdir, "is no file"),
    "a link to itself": (lambda path: path.symlink_to(path), "cannot be read"),
    "brackets without end": (lambda path: path.write_text(f"x = {'[' * 9000}"), "nested too deeply"),
    "bytes": (lambda path: path.write_bytes(b"\xff\xfe"), "not valid TOML"),
    "nothing": (lambda path: None, "the file is missing"),
}


@pytest.mark.parametrize("what", IN_PLACE)
@pytest.mark.timeout(30)
def test_what_lies_in_the_place_of_a_file_is_said(what: str, tmp_path: Path) -> None:
    make, words = IN_PLACE[what]
    make(tmp_path / "facts.toml")
    with pytest.raises(ScenarioInvalid, match=words):
        read_toml(tmp_path, "facts.toml")
