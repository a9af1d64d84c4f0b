"""Fresh checkouts and ways of setting them up badly. Packages are not installed again: the environment is lent."""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.stack import CHECKOUT, clean_environment

NOT_PART_OF_IT = (".git", ".venv", "var", "__pycache__", "*.pyc", ".*_cache", ".hypothesis")
LENT = Path(sys.prefix)


def lend_environment(checkout: Path) -> None:
    """What `make setup` would have installed: its own directory and marks, the packages of this test's environment."""
    venv = checkout / ".venv"
    venv.mkdir()
    for name in ("bin", "lib", "include", "pyvenv.cfg"):
        if (LENT / name).exists():
            (venv / name).symlink_to(LENT / name)
    for lock in ("requirements.lock", "requirements-dev.lock"):
        wanted = hashlib.sha256((checkout / lock).read_bytes()).hexdigest()
        (venv / f"complete-{lock}").write_text(wanted)


def ordinary() -> list[str]:
    """What stands before a command so that it runs as an ordinary user, whoever runs the tests."""
    if os.geteuid() != 0:
        return []
    user = pwd.getpwnam("fdegym")
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


@dataclass(frozen=True)
class Checkout:
    """A copy of the product somewhere else, and its own var directory."""

    place: Path

    @classmethod
    def copied_to(cls, place: Path) -> Checkout:
        shutil.copytree(CHECKOUT, place, symlinks=True, ignore=shutil.ignore_patterns(*NOT_PART_OF_IT))
        lend_environment(place)
        if os.geteuid() == 0:
            user = pwd.getpwnam("fdegym")
            for path in [place, *place.rglob("*")]:
                os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        return cls(place)

    def run(
        self, *command: str, before: tuple[str, ...] = (), timeout_s: float = 240, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """A command in the checkout as an ordinary user; ``before`` stands in front of it (a sandbox with less disk)."""
        return subprocess.run(
            [*ordinary(), *before, *command],
            cwd=self.place,
            env=clean_environment(**{"HOME": "/nonexistent", **variables}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def setup(self, *, before: tuple[str, ...] = (), **variables: str) -> subprocess.CompletedProcess[str]:
        return self.run("python3", "ops/setup.py", "run", before=before, **variables)

    def supervisor(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """Only for starts that fail: one that succeeds does not end."""
        return self.run(str(self.place / ".venv/bin/python"), "ops/supervisor.py", timeout_s=60, **variables)


def programs(place: Path, *, without: tuple[str, ...] = (), standing_in: dict[str, str] | None = None) -> str:
    """A PATH of one directory with this machine's programs, except some, and with stand-ins (shell scripts) for others."""
    place.mkdir()
    for directory in ("/usr/sbin", "/usr/bin"):
        for program in Path(directory).iterdir():
            link = place / program.name
            if program.name not in without and not link.is_symlink():
                link.symlink_to(program)
    for name, script in (standing_in or {}).items():
        (place / name).unlink(missing_ok=True)
        (place / name).write_text(f"#!/bin/sh\n{script}\n")
        (place / name).chmod(0o755)
    return str(place)


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """It ended with a status, one clear sentence that has these words, and no traceback."""
    said = done.stdout + done.stderr
    assert done.returncode != 0, said
    assert "Traceback" not in said, said
    for word in words:
        assert word in said, said
