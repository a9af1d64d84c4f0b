"""A site that was used, in a process of its own: ``lived_in.py leave ARCHIVE [--with-keys] | come_back ARCHIVE``.

``leave`` makes a handed-in run with everything that a run leaves behind, and the backup. ``come_back`` restores it into
this process's empty site, first dry. Prints one JSON object of what is there afterwards.
"""

import hashlib
import io
import json
import os
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "platform")]
os.environ["DJANGO_SETTINGS_MODULE"] = "fdegym.settings"

import django  # noqa: E402 - the environment comes first

django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402


def leave(archive: Path, *options: str) -> None:
    from fdegym.accounts.models import User
    from fdegym.delivery.begin import _note_begun
    from fdegym.runs import log
    from fdegym.runs.models import Run, RunState
    from fdegym.runs.services import transition
    from grading.queue import queue_submission
    from tests.grading.conftest import Sealed

    call_command("migrate", interactive=False, verbosity=0)
    call_command("createcachetable", verbosity=0)
    alice = User.objects.create_user("alice", password="alice-has-a-long-password")
    facts = {"user": alice, "scenario_id": "oil_npt", "task_id": "original", "level": "L3", "release": "0" * 64}
    run = Run.objects.create(**facts, state=RunState.PREPARING, attempt=1)
    _note_begun(run)
    transition(run.id, RunState.OPEN)
    sealed = Sealed(*_system(run.id), files=1, bytes=9)
    log.append(run.id, "run.frozen", {"sha256": sealed.sha256, "files": 1, "bytes": 9, "cause": "person"})
    transition(run.id, RunState.SUBMITTED, "person")
    queue_submission(run, sealed)
    for path, content in (
        (settings.SANDBOX_DIR / "_records" / str(run.id) / "terminal-1.record", b"typed and shown"),
        (settings.SANDBOX_DIR / str(run.id) / "spec.json", b"{}"),
        (settings.SANDBOX_DIR / str(run.id) / "storage.tar", b"files of the workspace"),
        (settings.GATEWAY_BODIES / f"{run.id}.jsonl", b"{}\n"),
        (settings.SUBMISSION_DIR / "notes-of-the-operator.txt", b"no part of it"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    call_command("backup", str(archive), *options, stdout=sys.stderr)
    print(json.dumps(what_is_there()))


def _system(run_id: object) -> tuple[Path, str]:
    settings.SUBMISSION_DIR.mkdir(parents=True, exist_ok=True)
    path = settings.SUBMISSION_DIR / f"{run_id}-0123abcd.tar"
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo("main.py")
        entry.size = 9
        archive.addfile(entry, io.BytesIO(b"print(42)"))
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


def come_back(archive: Path) -> None:
    before = files()
    call_command("restore", str(archive), "--dry-run", stdout=sys.stderr)
    assert files() == before, "a dry run wrote something"
    call_command("restore", str(archive), stdout=sys.stderr)
    print(json.dumps(what_is_there()))


def files() -> dict[str, str]:
    """Path below var → content, of all but the database and what only this process made."""
    found = {}
    for folder in ("submissions", "sandboxes", "gateway"):
        for path in sorted((settings.VAR / folder).rglob("*")):
            if path.is_file():
                found[path.relative_to(settings.VAR).as_posix()] = path.read_bytes().hex()
    return found


def what_is_there() -> dict[str, object]:
    from fdegym.runs import log
    from fdegym.runs.models import Run
    from grading.models import Submission

    run = Run.objects.get()
    submission = Submission.objects.get()
    return {
        "files": {name: content for name, content in files().items() if not name.endswith(".txt")},
        "events": [[event.seq, event.kind, event.hash] for event in log.events(run.id)],
        "sealed": submission.sealed.is_file() and submission.sealed.is_relative_to(settings.VAR),
        "signs in": run.user.check_password("alice-has-a-long-password"),
        "key": settings.SECRET_KEY,
    }


if __name__ == "__main__":
    archive = Path(sys.argv[2])
    if sys.argv[1] == "leave":
        leave(archive, *sys.argv[3:])
    else:
        come_back(archive)
