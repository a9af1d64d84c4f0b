"""Documentation is complete: what exists is said, and what is said exists."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from fdegym.env import VARIABLES

ROOT = Path(__file__).resolve().parents[1]
TEXT = {".py", ".md", ".toml", ".html", ".js", ".css", ".lock", ".json", ".txt", ".in", ""}
CACHES = {".ruff_cache", ".mypy_cache", ".pytest_cache", ".hypothesis", ".import_linter_cache"}
NOT_OURS = CACHES | {".git", ".venv", "var", "__pycache__", "vendor"}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_every_variable_of_the_environment_is_documented():
    text = (ROOT / "docs" / "hosting.md").read_text()
    assert [name for name in VARIABLES if f"`{name}`" not in text] == []


def test_every_make_target_is_said_in_the_readme_or_in_contributing():
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    text = (ROOT / "README.md").read_text() + (ROOT / "CONTRIBUTING.md").read_text()
    assert [target for target in targets if f"make {target}" not in text] == []


def test_make_alone_lists_every_target_and_starts_nothing():
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(["make"], cwd=ROOT, env=alone, capture_output=True, text=True, check=True)
    targets = re.findall(r"^([a-z]+):.*## (.+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert len(targets) > 5
    listed = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert listed == [f"make {target} {words}" for target, words in targets]


def test_every_management_command_is_documented():
    text = "".join(page.read_text() for page in PAGES)
    roots = ("platform/fdegym", "stakeholders", "grading", "workspaces")
    commands = {
        path.stem
        for root in roots
        for path in (ROOT / root).rglob("management/commands/*.py")
        if path.stem != "__init__"
    }
    assert sorted(name for name in commands if f"manage.py {name}" not in text) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_and_path_in_the_documentation_leads_somewhere(page):
    text = page.read_text()
    links = [target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text) if "://" not in target]
    assert [link for link in links if link and not (page.parent / link).exists()] == []


def test_decision_records_are_numbered_once_and_say_context_and_decision():
    numbers = []
    for record in sorted((ROOT / "ops" / "decisions").glob("*.md")):
        numbers.append(record.name[:4])
        text = record.read_text()
        assert re.match(r"# \d{4} — ", text), record.name
        assert "**Context" in text, record.name
        assert "**Decision" in text, record.name
    assert len(numbers) == len(set(numbers))


def test_nothing_in_the_project_names_a_machine_or_a_place_outside_it():
    # one letter of each in brackets: so the pattern does not find itself
    words = re.compile(r"\.\./[s]hared|/[w]ork/|/[r]oot/\.|[p]ythonhosted|[r]egistry\.npmjs|[d]eb\.debian\.org")
    offending = []
    for path in ROOT.rglob("*"):
        relative = path.relative_to(ROOT)
        if not path.is_file() or NOT_OURS & set(relative.parts):
            continue
        if path.suffix in TEXT and words.search(path.read_text(encoding="utf-8", errors="ignore")):
            offending.append(relative.as_posix())
    assert offending == []
