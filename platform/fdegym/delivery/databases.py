"""The site's database as one file: taken while the site runs, and put back into an empty place."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from fdegym.lib.errors import FdegymError

LONGEST_S = 6 * 3600
#: Options of a database URL that libpq reads from its environment.
LIBPQ = {"sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY"}


class DatabaseCopyProblem(FdegymError):
    """The database could not be copied or put back; the words say why. They hold no password."""


def kind() -> str:
    """``sqlite`` or ``postgresql``."""
    return str(connection.vendor)


def applied_migrations() -> list[str]:
    """``app.name`` of every migration that the database has had; none where there are no tables yet."""
    return sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations())


def known_migrations() -> set[str]:
    """``app.name`` of every migration that this release has."""
    loader = MigrationLoader(None, ignore_no_migrations=True)
    return {f"{app}.{name}" for app, name in loader.disk_migrations}


def copy_to(target: Path) -> None:
    """A consistent copy of the database as it stands now, in the form that ``put_back`` takes. Readable by this user."""
    target.touch(mode=0o600)
    if kind() == "sqlite":
        site, file = sqlite3.connect(_sqlite_file(), timeout=60), sqlite3.connect(target)
        with contextlib.closing(site), contextlib.closing(file):
            site.backup(file, pages=2000, sleep=0.01)
            file.execute("PRAGMA journal_mode=DELETE")
        return
    _postgres("pg_dump", "--format=custom", "--no-owner", "--no-privileges", "--file", str(target))


def put_back(source: Path) -> None:
    """Replace the database, which holds nothing worth keeping, by a copy; all or nothing."""
    connections.close_all()
    if kind() == "sqlite":
        with contextlib.closing(sqlite3.connect(source)) as copy:
            if copy.execute("PRAGMA quick_check").fetchone() != ("ok",):
                raise DatabaseCopyProblem("The copy of the database is damaged.")
            with contextlib.closing(sqlite3.connect(_sqlite_file(), timeout=60)) as target:
                copy.backup(target)
        return
    options = ["--clean", "--if-exists", "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error"]
    _postgres("pg_restore", *options, "--dbname", str(connection.settings_dict["NAME"]), str(source))


def _sqlite_file() -> Path:
    return Path(connection.settings_dict["NAME"])


def _postgres(program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL's; the password goes by its environment, where no process list shows it."""
    try:
        done = subprocess.run(
            [program, *arguments],
            env={**os.environ, **_libpq(connection.settings_dict)},
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
    except FileNotFoundError as missing:
        raise DatabaseCopyProblem(
            f"{program} is missing on this machine: install PostgreSQL's client programs of the server's version or newer."
        ) from missing
    except subprocess.TimeoutExpired as late:
        raise DatabaseCopyProblem(f"{program} took longer than {LONGEST_S // 3600} hours.") from late
    if done.returncode:
        raise DatabaseCopyProblem(f"{program} failed: {done.stderr.strip()[-1500:]}")


def _libpq(settings: Mapping[str, Any]) -> dict[str, str]:
    given = {"PGHOST": settings["HOST"], "PGPORT": settings["PORT"], "PGUSER": settings["USER"]}
    given |= {"PGPASSWORD": settings["PASSWORD"], "PGDATABASE": settings["NAME"]}
    given |= {name: settings["OPTIONS"].get(option, "") for option, name in LIBPQ.items()}
    return {name: str(value) for name, value in given.items() if value}
