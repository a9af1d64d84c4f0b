"""An archive back into an empty site: everything is checked before the first byte is written, nothing is replaced."""

from __future__ import annotations

import shutil
import socket
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import DatabaseError

from fdegym.delivery import databases
from fdegym.delivery.backups import (
    DATABASE,
    KEY,
    BackupProblem,
    Manifest,
    damaged,
    key_fingerprint,
    places,
    read_manifest,
)
from fdegym.delivery.models import TrialRun
from fdegym.runs.models import Run
from grading.models import Submission
from scenarios.kit.cache import salt_fingerprint

PARTS_OF_A_WORKSPACE = ("storage", "shm")  #: folders that a sandbox's own folder has besides its files


class RestoreBrokenOff(BackupProblem):
    """Something failed after writing had begun."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What an archive holds and what became of it. ``key_taken``: the archive's signing key is this site's from now on."""

    manifest: Manifest
    key_taken: bool = False

    def count(self, part: str) -> int:
        return sum(name.startswith(f"{part}/") for name in self.manifest.files)


def restore(source: Path, *, dry_run: bool = False, other_secrets: bool = False) -> Restored:
    """Restore an archive. Raises ``BackupProblem`` before anything is changed, or ``DatabaseCopyProblem``.

    ``dry_run``: everything is checked, nothing is written. ``other_secrets``: also under another signing key or salt.
    """
    try:
        with tarfile.open(source, mode="r:") as archive:
            manifest = read_manifest(archive)
            if wrong := damaged(archive, manifest):
                raise BackupProblem(f"The archive is damaged: {', '.join(wrong[:5])} is not what was written.")
            _refuse_what_is_newer(manifest)
            _refuse_a_place_in_use()
            takes_key = _takes_key(manifest)
            if not other_secrets:
                _refuse_other_secrets(manifest, takes_key)
            if dry_run:
                return Restored(manifest, takes_key)
            try:
                _write(archive, manifest, takes_key=takes_key)
            except Exception as problem:
                raise RestoreBrokenOff(
                    f"The restore was broken off ({problem}). Empty database and folders, and begin again."
                ) from problem
    except (OSError, tarfile.TarError) as problem:
        raise BackupProblem(f"{source} cannot be restored: {problem}.") from problem
    return Restored(manifest, takes_key)


def _refuse_what_is_newer(manifest: Manifest) -> None:
    if manifest.database != databases.kind():
        raise BackupProblem(
            f"The archive is of a site on {manifest.database}, this one is on {databases.kind()}: set DATABASE_URL as it "
            "was there."
        )
    unknown = sorted(set(manifest.migrations) - databases.known_migrations())
    if unknown:
        raise BackupProblem(f"The archive is of a newer release (it has {unknown[0]}): install that release first.")


def _refuse_a_place_in_use() -> None:
    for name in ("keeper.sock", "desk/site.sock"):
        path = Path(settings.ENVIRONMENT.sockets) / name
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(2)
            if probe.connect_ex(str(path)) == 0:
                raise BackupProblem(f"The site is running ({path} answers): stop all its services first.")
    for part, folder in places().items():
        inside = [path.name for path in folder.glob("*") if part != "workspaces" or not path.name.startswith("_")]
        if inside:
            raise BackupProblem(f"{folder} is not empty: a restore replaces nothing. Move it away first.")
    try:
        if get_user_model().objects.exists() or Run.objects.exists():
            raise BackupProblem(
                "The database holds accounts or runs: a restore replaces nothing. Give it an empty one."
            )
    except DatabaseError:
        return  # no tables yet, or no file


def _takes_key(manifest: Manifest) -> bool:
    """Whether the archive's key replaces one that this empty site has made for itself."""
    own_file = Path(settings.VAR) / "secret-key"
    made_here = own_file.exists() and own_file.read_text().strip() == settings.SECRET_KEY
    return KEY in manifest.files and made_here and key_fingerprint(settings.SECRET_KEY) != manifest.signing_key


def _refuse_other_secrets(manifest: Manifest, takes_key: bool) -> None:
    keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    if not takes_key and manifest.signing_key not in [key_fingerprint(key) for key in keys]:
        raise BackupProblem(
            f"This site has another signing key than the archive's ({manifest.signing_key}), so the signatures of old logs "
            "would not fit. Put the key of then into secret-key (or where FDEGYM_SECRET_KEY comes from, or into "
            "FDEGYM_OLD_KEYS); if it is lost, --other-secrets restores all the same."
        )
    salt = salt_fingerprint(settings.WORLD_SALT)
    if manifest.salt != salt:
        raise BackupProblem(
            f"The archive's worlds have the salt {manifest.salt or 'none'}, this site's have {salt or 'none'}: "
            "open runs would lose their worlds and grades could not be checked. Set the WORLD_SALT of then; if it is lost, "
            "--other-secrets restores all the same."
        )


def _write(archive: tarfile.TarFile, manifest: Manifest, *, takes_key: bool) -> None:
    folders = places()
    for name in manifest.files:
        part, _, rest = name.partition("/")
        if part in folders:
            _extract(archive, name, folders[part] / rest)
            if part == "workspaces":
                for folder in PARTS_OF_A_WORKSPACE:
                    (folders[part] / rest).with_name(folder).mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fdegym-restore-", dir=settings.VAR) as scratch:
        copy = Path(scratch) / DATABASE
        _extract(archive, DATABASE, copy)
        databases.put_back(copy)
    call_command("migrate", interactive=False, verbosity=0)
    call_command("createcachetable", verbosity=0)
    _say_where_files_lie_now()
    if takes_key:
        _extract(archive, KEY, Path(settings.VAR) / "secret-key")


def _extract(archive: tarfile.TarFile, name: str, target: Path) -> None:
    """One member, as a file of this user alone; its name was checked against what backups hold."""
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    stream = archive.extractfile(name)
    if stream is None:
        raise BackupProblem(f"The archive's {name} is no file.")
    part = target.with_name(f".{target.name}.restoring")
    part.touch(mode=0o600)
    with part.open("wb") as file:
        shutil.copyfileobj(stream, file, 1 << 20)
    part.replace(target)


def _say_where_files_lie_now() -> None:
    """The database knows the place where they lay."""
    folder = Path(settings.SUBMISSION_DIR)
    for submission in Submission.objects.only("sealed_path").iterator():
        Submission.objects.filter(pk=submission.pk).update(sealed_path=str(folder / submission.sealed.name))
    for trial in TrialRun.objects.exclude(copy_path="").only("copy_path").iterator():
        TrialRun.objects.filter(pk=trial.pk).update(copy_path=str(folder / Path(trial.copy_path).name))
