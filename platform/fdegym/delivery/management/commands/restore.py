"""``manage.py restore FILE``: an archive of ``manage.py backup`` into an empty site, then an audit of every run."""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from fdegym.delivery.backups import BackupProblem
from fdegym.delivery.restoring import RestoreBrokenOff, Restored, restore


class Command(BaseCommand):
    help = "Restore an archive into an empty site. Replaces nothing. Ends with an audit of every run."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="an archive of `manage.py backup`")
        parser.add_argument("--dry-run", action="store_true", help="check everything, write nothing")
        parser.add_argument(
            "--other-secrets", action="store_true", help="also where the signing key or the salt of then is lost"
        )
        parser.add_argument("--no-audit", action="store_true", help="leave the audit for later")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = restore(options["file"], dry_run=options["dry_run"], other_secrets=options["other_secrets"])
        except RestoreBrokenOff as problem:
            raise CommandError(str(problem)) from problem
        except BackupProblem as problem:
            raise CommandError(f"{problem} Nothing was restored.") from problem
        self.stdout.write(_in_words(done, "would be restored" if options["dry_run"] else "restored"))
        if options["dry_run"] or options["no_audit"]:
            return
        # a process of its own: one key may just have taken the place of another
        audit = [sys.executable, str(settings.ROOT / "manage.py"), "audit", "--all"]
        if subprocess.run(audit, check=False).returncode:
            raise CommandError("Everything was restored, and the audit found something that is not so: see above.")


def _in_words(done: Restored, what: str) -> str:
    counted = {"submissions": "submissions", "recordings": "recordings", "model-words": "files of model calls"}
    parts = [f"{done.count(part)} {words}" for part, words in counted.items()]
    parts.append(f"{done.count('workspaces') // 2} workspaces")
    key = " The archive's signing key is this site's." if done.key_taken else ""
    return f"Of {done.manifest.made_at}: the database, {', '.join(parts)} {what}.{key}"
