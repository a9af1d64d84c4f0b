"""A backup is taken while the site is there and restored into an empty place, and the audit of what came back passes."""

from __future__ import annotations

import dataclasses
import io
import json
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fdegym.accounts.models import User
from fdegym.delivery.backups import BackupProblem, Manifest, make_backup
from fdegym.delivery.databases import DatabaseCopyProblem
from fdegym.delivery.restoring import restore
from tests.deployment.conftest import need
from tests.deployment.servers import Postgres
from tests.e2e.stack import clean_environment

ROOT = Path(__file__).resolve().parents[2]


def lived_in(place: Path, *arguments: object, **variables: str) -> tuple[dict[str, Any], str]:
    """Run ``lived_in.py`` on a site whose var lies in ``place``; what is there afterwards, and what was said."""
    command = [sys.executable, str(ROOT / "tests" / "deployment" / "lived_in.py"), *map(str, arguments)]
    environment = clean_environment(FDEGYM_VAR=str(place / "var"), **variables)
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    there: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return there, done.stdout + done.stderr


def check_that_everything_came_back(before: dict[str, Any], after: dict[str, Any], said: str) -> None:
    assert after["files"] == before["files"]
    assert len(before["files"]) == 5
    assert after["events"] == before["events"]
    assert after["sealed"], "the database still names the place where the submission lay"
    assert after["signs in"]
    assert "checks are so" in said
    assert "NOT SO" not in said
    assert "1 runs, 0 of them with something that is not so." in said
    assert "sealed system" not in said, "what was handed in is there to be checked"


def test_on_sqlite_with_the_key_everything_comes_back(tmp_path: Path) -> None:
    archive = tmp_path / "backup"
    before, said = lived_in(tmp_path / "old", "leave", archive, "--with-keys")
    assert "WORLD_SALT" in said
    assert archive.stat().st_mode & 0o777 == 0o600
    shutil.rmtree(tmp_path / "old")
    after, said = lived_in(tmp_path / "new", "come_back", archive)
    check_that_everything_came_back(before, after, said)
    assert "signing key is this site's" in said
    assert (tmp_path / "new" / "var" / "secret-key").read_text() == before["key"]


def test_on_postgresql_with_the_key_kept_elsewhere_everything_comes_back(postgres: Postgres, tmp_path: Path) -> None:
    need(shutil.which("pg_dump"), "PostgreSQL's client programs")
    key = tmp_path / "key"
    key.touch(mode=0o600)
    key.write_text("k" * 60)
    archive = tmp_path / "backup"
    old = postgres.create_database("backup_old")
    before, _ = lived_in(tmp_path / "old", "leave", archive, DATABASE_URL=old, FDEGYM_SECRET_KEY_FILE=str(key))
    assert (b"k" * 60) not in archive.read_bytes(), "a key that nobody asked for"
    new = postgres.create_database("backup_new")
    after, said = lived_in(tmp_path / "new", "come_back", archive, DATABASE_URL=new, FDEGYM_SECRET_KEY_FILE=str(key))
    check_that_everything_came_back(before, after, said)


# ---- what is refused, before anything is written ---------------------------------------------------------------------


@pytest.fixture
def site(settings: Any, tmp_path: Path, transactional_db: None) -> Path:
    """An empty site of this process, on the database of the test session."""
    settings.VAR = tmp_path
    settings.SUBMISSION_DIR, settings.SANDBOX_DIR = tmp_path / "submissions", tmp_path / "sandboxes"
    settings.GATEWAY_BODIES = tmp_path / "gateway"
    settings.ENVIRONMENT = dataclasses.replace(settings.ENVIRONMENT, sockets=tmp_path / "run")
    return tmp_path


@pytest.fixture
def archive(site: Path) -> Path:
    folder = site / "submissions"
    folder.mkdir()
    (folder / "0123-abcd.tar").write_bytes(b"handed in")
    target = site / "archive"
    make_backup(target)
    shutil.rmtree(folder)
    return target


def rewritten(archive: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """The archive with other members."""
    with tarfile.open(archive) as tar:
        members = {entry.name: tar.extractfile(entry).read() for entry in tar}  # type: ignore[union-attr]
    change(members)
    target = archive.with_name("rewritten")
    with tarfile.open(target, "w") as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return target


def manifest_with(members: dict[str, bytes], **changes: Any) -> None:
    members["manifest.json"] = json.dumps(json.loads(members["manifest.json"]) | changes).encode()


def test_an_archive_as_it_was_written_would_be_restored(archive: Path) -> None:
    assert restore(archive, dry_run=True).count("submissions") == 1


def test_a_backup_replaces_nothing(archive: Path) -> None:
    with pytest.raises(BackupProblem, match="exists already"):
        make_backup(archive)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda members: members.update({"submissions/0123-abcd.tar": b"handed 1n"}), "damaged: submissions/0123-abcd"),
        (lambda members: members.pop("submissions/0123-abcd.tar"), "damaged: submissions/0123-abcd"),
        (lambda members: members.update({"submissions/99.tar": b"slipped in"}), "damaged: submissions/99"),
        (lambda members: members.pop("manifest.json"), "no manifest"),
        (lambda members: members.update({"manifest.json": b"{}"}), "no backup of this product"),
        (lambda members: manifest_with(members, format=2), "format 2"),
        (lambda members: manifest_with(members, database="oracle"), "set DATABASE_URL"),
        (lambda members: manifest_with(members, migrations=["runs.0999_of_tomorrow"]), "newer release"),
        (lambda members: manifest_with(members, signing_key="0" * 16), "another signing key"),
        (lambda members: manifest_with(members, salt="12345678"), "WORLD_SALT of then"),
        (
            lambda members: manifest_with(members, files={"submissions/../../x.tar": {"sha256": "", "bytes": 0}}),
            "which no backup holds",
        ),
    ],
)
def test_what_cannot_be_trusted_or_does_not_fit_is_refused(
    archive: Path, site: Path, change: Callable[[dict[str, bytes]], None], words: str
) -> None:
    with pytest.raises(BackupProblem, match=words):
        restore(rewritten(archive, change))
    assert not (site / "submissions").exists(), "something was written"


def test_a_cut_off_archive_is_refused(archive: Path) -> None:
    content = archive.read_bytes()
    archive.write_bytes(content[: len(content) // 2])
    with pytest.raises(BackupProblem):
        restore(archive)


def test_a_lost_key_is_no_obstacle_to_who_says_so(archive: Path) -> None:
    changed = rewritten(archive, lambda members: manifest_with(members, signing_key="0" * 16, salt="12345678"))
    assert isinstance(restore(changed, dry_run=True, other_secrets=True).manifest, Manifest)


def test_a_place_in_use_is_refused(archive: Path, site: Path, alice: User) -> None:
    with pytest.raises(BackupProblem, match="holds accounts"):
        restore(archive)
    alice.delete()
    (site / "sandboxes" / "a-run").mkdir(parents=True)
    with pytest.raises(BackupProblem, match="sandboxes is not empty"):
        restore(archive)
    shutil.rmtree(site / "sandboxes")
    (site / "sandboxes" / "_records").mkdir(parents=True)  # made by a keeper that was started once
    restore(archive, dry_run=True)


def test_a_missing_program_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from fdegym.delivery import databases

    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DatabaseCopyProblem, match="pg_dump is missing"):
        databases._postgres("pg_dump")
