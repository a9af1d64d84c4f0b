"""What differs when root starts things: everything of the product runs as its own unprivileged user all the same.

Collected only for root; `make test` as root runs this file before it gives its rights up.
"""

from __future__ import annotations

import hashlib
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.e2e.checkouts import NOT_PART_OF_IT, lend_environment
from tests.e2e.stack import CHECKOUT, clean_environment, own_directory

pytestmark = [pytest.mark.sandbox]
HOME = Path("/var/lib/fdegym")


def test_a_command_started_by_root_runs_as_the_unprivileged_user_and_leaves_nothing_of_roots():
    directory = own_directory("fdroot-")
    try:
        done = subprocess.run(
            [sys.executable, "manage.py", "shell", "-c", "import os; print('user', os.geteuid(), os.getgroups())"],
            cwd=CHECKOUT,
            env=clean_environment(FDEGYM_VAR=str(directory / "var")),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        user = pwd.getpwnam("fdegym")
        assert f"user {user.pw_uid} []" in done.stdout, done.stdout + done.stderr
        owners = {path.lstat().st_uid for path in [directory / "var", *(directory / "var").rglob("*")]}
        assert owners == {user.pw_uid}
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def hidden_checkout():
    """A checkout that only root may look into, as below /root; and what the product made of it, removed afterwards."""
    outside = Path(tempfile.mkdtemp(prefix="fdhid-", dir="/tmp"))  # mode 0700, root's
    place = outside / "fde"
    shutil.copytree(CHECKOUT, place, symlinks=True, ignore=shutil.ignore_patterns(*NOT_PART_OF_IT))
    copy = HOME / f"{place.name}-{hashlib.sha256(str(place).encode()).hexdigest()[:8]}"
    yield place, copy
    shutil.rmtree(outside, ignore_errors=True)
    shutil.rmtree(copy, ignore_errors=True)


def test_a_checkout_that_only_root_can_read_runs_from_a_copy_that_is_kept_up_to_date(hidden_checkout):
    place, copy = hidden_checkout
    directory = own_directory("fdroot-")
    show = "import os; from django.conf import settings; print('at', settings.ROOT, 'as', os.geteuid())"

    def ask() -> str:
        done = subprocess.run(
            ["/usr/bin/python3", "manage.py", "shell", "-c", show],
            cwd=place,
            env=clean_environment(FDEGYM_VAR=str(directory / "var")),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.stdout + done.stderr

    try:
        assert "is not set up yet: run `make setup` first" in ask()
        lend_environment(copy)
        assert f"at {copy} as {pwd.getpwnam('fdegym').pw_uid}" in ask()
        (place / "docs" / "new.md").write_text("new\n")
        (place / "README.md").unlink()
        ask()
        assert (copy / "docs" / "new.md").is_file()
        assert not (copy / "README.md").exists()
        assert place.parent.stat().st_mode & 0o777 == 0o700
    finally:
        shutil.rmtree(directory, ignore_errors=True)
