"""``manage.py backup FILE``: all that must not be lost, in one archive, while the site runs."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from fdegym.delivery.backups import LEFT_OUT, BackupProblem, make_backup
from fdegym.delivery.databases import DatabaseCopyProblem


class Command(BaseCommand):
    help = "Write database, submissions, recordings and workspaces into one archive with a manifest of hashes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="the archive to write; it must not exist")
        parser.add_argument("--with-keys", action="store_true", help="put the signing key into it as well")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            manifest = make_backup(options["file"].absolute(), with_keys=options["with_keys"])
        except (BackupProblem, DatabaseCopyProblem) as problem:
            raise CommandError(str(problem)) from problem
        size = sum(member.bytes for member in manifest.files.values())
        self.stdout.write(f"{options['file']}: {len(manifest.files)} files, {size:,} bytes.")
        left_out = LEFT_OUT[1:] if options["with_keys"] else LEFT_OUT
        self.stdout.write(f"Not in it, keep them elsewhere: {'; '.join(left_out)}.")
