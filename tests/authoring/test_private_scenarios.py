"""A site with a scenario of its own and a salt of its own, nothing staged: linted, offered, played, graded, and said."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scenarios.kit.build import build
from scenarios.kit.cache import salt_fingerprint
from tests.authoring.toy import NAME, write_sound_toy
from tests.e2e.stack import clean_environment

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(900)]
SALT = "a salt of this site's own"


@pytest.fixture(scope="module")
def told() -> Iterator[dict[str, Any]]:
    place = Path(tempfile.mkdtemp(prefix="fdsalt-", dir="/tmp"))  # short: unix sockets lie below it
    (place / "private").mkdir()
    (place / "var").mkdir(mode=0o700)
    environment = clean_environment(
        FDEGYM_VAR=str(place / "var"),
        FDEGYM_SOCKETS=str(place / "s"),
        SCENARIO_DIRS=str(place / "private"),
        FDEGYM_SECRET_KEY="k" * 60,
        WORLD_SALT=SALT,
    )
    root = Path(__file__).resolve().parents[2]
    environment["PYTHONPATH"] = f"{root}:{root / 'platform'}"
    try:
        script = [sys.executable, str(Path(__file__).with_name("salted_site.py"))]
        done = subprocess.run(script, env=environment, capture_output=True, text=True, timeout=800, check=False)
        assert done.returncode == 0, done.stderr[-4000:]
        yield json.loads(done.stdout.splitlines()[-1])
    finally:
        shutil.rmtree(place, ignore_errors=True)


def test_a_scenario_outside_the_repository_is_linted_and_offered(told: dict[str, Any]) -> None:
    assert f"{NAME}: nothing to put right" in told["lint"]
    assert NAME in told["offered"]


def test_its_grader_imports_its_world_in_the_sandbox_and_a_grade_comes_of_it(told: dict[str, Any]) -> None:
    assert told["played"]["score"] == 1.0
    assert told["played"]["resolved"]


def test_a_salted_site_measures_both_ends_itself_whatever_anchors_say(told: dict[str, Any]) -> None:
    assert told["kpis"] == [-6.0, 3.0, 3.0]


def test_its_worlds_are_others_than_the_published_ones(told: dict[str, Any], tmp_path: Path) -> None:
    folder = write_sound_toy(tmp_path / "published")
    found = {}
    for salt in ("", SALT):
        out = tmp_path / f"world{len(salt)}"
        out.mkdir()
        build(folder, "original", salt, out)
        found[salt] = json.loads((out / "meta.json").read_text())["sha256"]
    assert told["world"] == found[SALT] != found[""]


def test_the_grade_names_the_salts_fingerprint_and_nothing_names_the_salt(told: dict[str, Any]) -> None:
    assert told["fingerprint"] == salt_fingerprint(SALT)
    assert f"salted, {told['fingerprint']}" in told["pages"]["debrief"]
    assert SALT not in json.dumps(told)


def test_pages_say_what_a_visitor_should_know_of_the_worlds(told: dict[str, Any]) -> None:
    pages = told["pages"]
    assert "salted" in pages["scenario"]
    assert "published worlds" not in pages["board"]
