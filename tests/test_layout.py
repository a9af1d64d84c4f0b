"""Rules of the tree that a reader relies on and that break other things when they are broken."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE_ROOTS = ("platform", "workspaces", "stakeholders", "grading", "scenarios", "ops", "tests")


def python_files() -> list[Path]:
    return [
        path for root in SOURCE_ROOTS for path in sorted((ROOT / root).rglob("*.py")) if "__pycache__" not in path.parts
    ]


def test_platform_stays_a_source_root_and_shadows_nothing():
    assert not (ROOT / "platform" / "__init__.py").exists()
    assert list((ROOT / "platform").glob("*.py")) == []


def test_the_standard_library_still_finds_its_platform_module_from_the_checkout():
    found = subprocess.run(
        [sys.executable, "-c", "import platform, uuid; print(platform.__file__)"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "fdegym" not in found.stdout
    assert str(ROOT / "platform") not in found.stdout


@pytest.mark.parametrize("path", python_files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_python_file_is_longer_than_a_person_can_hold_in_mind(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


@pytest.mark.parametrize("name", ["utils", "helpers", "common", "manager", "misc"])
def test_no_module_is_named_for_nothing(name):
    assert [path for path in python_files() if path.stem == name] == []


def test_every_module_of_the_product_says_what_it_is_for():
    silent = []
    for path in python_files():
        relative = path.relative_to(ROOT)
        if relative.parts[0] == "tests" or "migrations" in relative.parts or path.name in ("__init__.py", "apps.py"):
            continue
        if re.match(r"scenarios/[a-z_]+/(solutions|system)/", relative.as_posix()):
            continue
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))):
            silent.append(relative.as_posix())
    assert silent == []


def test_the_lock_files_pin_every_package_by_hash_and_name_no_address():
    for name in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / name).read_text()
        assert "://" not in text
        pinned = re.findall(r"^[a-zA-Z0-9_.\[\],-]+==", text, re.MULTILINE)
        assert len(pinned) > 20
        for block in re.split(r"\n(?=[a-zA-Z])", text.strip()):
            assert "--hash=sha256:" in block, block[:60]


def test_vendored_assets_are_what_the_lock_says():
    done = subprocess.run(
        [sys.executable, "ops/vendor_assets.py", "--check"], cwd=ROOT, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_no_page_loads_anything_from_another_host():
    remote = re.compile(r"""(?:src|href)=["'](?:https?:)?//""")
    offending = [
        path.relative_to(ROOT).as_posix()
        for folder in ("templates", "static/js", "static/css")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and remote.search(path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert offending == []
