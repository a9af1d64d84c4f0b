"""One archive of all that must not be lost: an uncompressed tar with a manifest of hashes as its last member.

First the database is copied, then the files that it names, which are written before it names them and never changed: so
what is taken belongs together though the site goes on. Keys are not in it unless asked for.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.utils import timezone

from fdegym.delivery import databases
from fdegym.delivery.leftovers import RUN_ID
from fdegym.lib.errors import FdegymError
from scenarios.kit.cache import salt_fingerprint

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE = "database"
KEY = "keys/secret-key"
#: What a member may be called: an archive says what is restored, never where to.
MEMBER = re.compile(
    rf"{DATABASE}|{KEY}|submissions/[0-9a-f-]+\.tar|recordings/{RUN_ID}/[a-z0-9-]+\.record"
    rf"|workspaces/{RUN_ID}/(?:spec\.json|storage\.tar)|model-words/[A-Za-z0-9._-]+\.jsonl"
)
LEFT_OUT = (
    "the signing key (FDEGYM_VAR/secret-key, or where FDEGYM_SECRET_KEY comes from)",
    "WORLD_SALT",
    "passwords of database and Redis",
    "the model gateway's key",
    "worlds, static files and logs, which are made anew",
)


class BackupProblem(FdegymError):
    """An archive that cannot be made, or not be trusted; the words say why."""


@dataclass(frozen=True, slots=True)
class Member:
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive says of itself. Fingerprints name key and salt without telling them."""

    made_at: str
    database: str
    migrations: tuple[str, ...]
    signing_key: str
    salt: str
    files: dict[str, Member] = field(default_factory=dict)
    format: int = FORMAT

    def as_json(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def from_json(cls, content: bytes) -> Manifest:
        """Raises ``BackupProblem`` for what no release before this one wrote."""
        try:
            given: dict[str, Any] = json.loads(content)
            if given["format"] != FORMAT:
                raise BackupProblem(f"The archive has format {given['format']}; this release reads {FORMAT}.")
            files = {str(name): Member(str(one["sha256"]), int(one["bytes"])) for name, one in given["files"].items()}
            made_at, database, key, salt = (str(given[name]) for name in ("made_at", "database", "signing_key", "salt"))
            found = cls(made_at, database, tuple(map(str, given["migrations"])), key, salt, files)
        except (ValueError, LookupError, TypeError, AttributeError) as problem:
            raise BackupProblem("The archive's manifest cannot be read: it is no backup of this product.") from problem
        strange = [name for name in files if not MEMBER.fullmatch(name)]
        if strange:
            raise BackupProblem(f"The archive holds {strange[0]!r}, which no backup holds.")
        return found


def key_fingerprint(key: str) -> str:
    """Sixteen hexadecimal digits that name a signing key without telling it."""
    return hashlib.sha256(f"fdegym signing key\x1f{key}".encode()).hexdigest()[:16]


def places() -> dict[str, Path]:
    """First part of a member's name → the folder of this site that it belongs into."""
    return {
        "submissions": Path(settings.SUBMISSION_DIR),
        "recordings": Path(settings.SANDBOX_DIR) / "_records",
        "workspaces": Path(settings.SANDBOX_DIR),
        "model-words": Path(settings.GATEWAY_BODIES),
    }


def _found() -> Iterator[tuple[str, Path]]:
    """Every file that belongs into a backup, by the name that it gets there."""
    patterns: dict[str, tuple[str, ...]] = {
        "submissions": ("*.tar",),
        "recordings": ("*/*.record",),
        "model-words": ("*.jsonl",),
    }
    patterns["workspaces"] = ("*/spec.json", "*/storage.tar")
    for part, folder in places().items():
        for pattern in patterns[part]:
            for path in sorted(folder.glob(pattern)):
                name = f"{part}/{path.relative_to(folder).as_posix()}"
                if MEMBER.fullmatch(name):
                    yield name, path


def make_backup(target: Path, *, with_keys: bool = False) -> Manifest:
    """Write the archive, readable by this user alone; it has its name when it is complete. Raises ``BackupProblem``."""
    if target.exists():
        raise BackupProblem(f"{target} exists already; a backup replaces nothing.")
    files: dict[str, Member] = {}
    try:
        with tempfile.TemporaryDirectory(prefix=".fdegym-backup-", dir=target.parent) as scratch:
            unfinished, copy = Path(scratch) / "archive", Path(scratch) / DATABASE
            migrations = databases.applied_migrations()
            databases.copy_to(copy)
            unfinished.touch(mode=0o600)
            with unfinished.open("wb") as stream:
                with tarfile.open(fileobj=stream, mode="w") as archive:
                    for name, path in [(DATABASE, copy), *_found()]:
                        try:
                            with path.open("rb") as source:
                                files[name] = _add(archive, name, source, os.fstat(source.fileno()).st_size)
                        except FileNotFoundError:
                            continue  # removed meanwhile by the rule of retention, or with a trial that is over
                    if with_keys:
                        key = settings.SECRET_KEY.encode()
                        files[KEY] = _add(archive, KEY, io.BytesIO(key), len(key))
                    manifest = Manifest(
                        made_at=timezone.now().isoformat(timespec="seconds"),
                        database=databases.kind(),
                        migrations=tuple(migrations),
                        signing_key=key_fingerprint(settings.SECRET_KEY),
                        salt=salt_fingerprint(settings.WORLD_SALT),
                        files=files,
                    )
                    content = manifest.as_json()
                    _add(archive, MANIFEST, io.BytesIO(content), len(content))
                stream.flush()
                os.fsync(stream.fileno())
            os.link(unfinished, target)
    except OSError as problem:
        raise BackupProblem(f"{target} could not be written: {problem.strerror or problem}.") from problem
    return manifest


class _Hashing:
    """What is read through it, hashed."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source, self.digest = source, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content = self._source.read(size)
        self.digest.update(content)
        return content


def _add(archive: tarfile.TarFile, name: str, source: IO[bytes], size: int) -> Member:
    """A file as long as it was when it was opened: a recording grows meanwhile."""
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, 0o600, int(timezone.now().timestamp())
    hashing = _Hashing(source)
    archive.addfile(entry, hashing)
    return Member(hashing.digest.hexdigest(), size)


def read_manifest(archive: tarfile.TarFile) -> Manifest:
    """Raises ``BackupProblem``."""
    try:
        stream = archive.extractfile(MANIFEST)
    except (KeyError, tarfile.TarError) as missing:
        raise BackupProblem("The archive has no manifest: it is cut off, or no backup of this product.") from missing
    if stream is None:
        raise BackupProblem("The archive's manifest is no file.")
    return Manifest.from_json(stream.read())


def damaged(archive: tarfile.TarFile, manifest: Manifest) -> Sequence[str]:
    """Names of members that are missing, not in the manifest, or not what was written."""
    there: dict[str, Member] = {}
    twice = []
    try:
        for entry in archive.getmembers():
            stream = archive.extractfile(entry) if entry.isreg() else None
            if entry.name in there or stream is None:
                twice.append(entry.name)
                continue
            there[entry.name] = Member(hashlib.file_digest(stream, "sha256").hexdigest(), entry.size)  # type: ignore[arg-type]
    except (tarfile.TarError, OSError) as problem:
        raise BackupProblem(f"The archive cannot be read to its end: {problem}.") from problem
    there.pop(MANIFEST, None)
    differing = {name for name in there.keys() | manifest.files.keys() if there.get(name) != manifest.files.get(name)}
    return sorted(differing | set(twice))
