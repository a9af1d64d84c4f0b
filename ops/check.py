"""`make check`: format, lint, rules of safe code, types, import contracts, migrations, vendored assets, documentation.

python3 ops/check.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import place


def private_scratch() -> Path:
    """A directory for what the steps write: whoever checks, the site's own var directory is not touched.

    As root some steps run as the product's user; each has a directory of its own below this one.
    """
    scratch = Path(tempfile.mkdtemp(prefix="fdc-", dir="/tmp"))
    if place.is_root():
        user = place.ensure_user()
        os.chown(scratch, user.pw_uid, user.pw_gid)
    return scratch


def main() -> int:
    home = place.CHECKOUT
    tools = home / ".venv" / "bin"
    if not (tools / "ruff").exists():
        print("fdegym: the tools are not installed in this checkout: run `make test` once first.")
        return 1
    environment = {**os.environ, "PYTHONPATH": f"{home}:{home / 'platform'}"}
    python = str(tools / "python")
    steps = {
        "format": [str(tools / "ruff"), "format", "--check", "--quiet", "."],
        "lint": [str(tools / "ruff"), "check", "--quiet", "."],
        "safety": [python, "ops/safety.py"],
        "types": [str(tools / "mypy")],
        "imports": [str(tools / "lint-imports"), "--no-cache"],
        "migrations": [python, "manage.py", "makemigrations", "--check", "--dry-run"],
        "settings": [python, "manage.py", "check"],
        "assets": [python, "ops/vendor_assets.py", "--check"],
        "scenarios": [python, "manage.py", "lint"],
        "documentation": [
            python,
            "-m",
            "pytest",
            "-q",
            "tests/test_layout.py",
            "tests/test_docs.py",
            "-p",
            "no:cacheprovider",
        ],
    }
    failed = []
    scratch = private_scratch()
    for name, command in steps.items():
        print(f"— {name}", flush=True)
        own = environment | {"FDEGYM_VAR": str(scratch / name)}
        if subprocess.run(command, cwd=home, env=own, check=False).returncode:
            failed.append(name)
    shutil.rmtree(scratch, ignore_errors=True)
    print(f"check: {'failed: ' + ', '.join(failed) if failed else 'all is well'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
