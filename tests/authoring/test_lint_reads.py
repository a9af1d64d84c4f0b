"""Lint reads what anybody may have sent: no Python is so odd that it ends lint instead of being told."""

from __future__ import annotations

from pathlib import Path

import pytest

from fdegym.authoring.lint import _names_of


@pytest.mark.parametrize(
    "odd", ["-" * 200_000 + "1", "x" + ".a" * 200_000, "x\0", "(" * 5000, "if", "é".encode("latin-1")]
)
def test_what_is_no_python_defines_nothing(tmp_path: Path, odd: str | bytes) -> None:
    file = tmp_path / "grader.py"
    file.write_bytes(odd if isinstance(odd, bytes) else odd.encode())
    assert _names_of(file) == set()


def test_what_a_module_defines_is_found(tmp_path: Path) -> None:
    file = tmp_path / "grader.py"
    file.write_text("from .a import trial\ndef replay(): ...\nx = 1\n")
    assert _names_of(file) == {"trial", "replay", "x"}
