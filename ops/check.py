"""`make check`: format, lint, types, import contracts, migrations, vendored assets, documentation.

python3 ops/check.py
"""

from __future__ import annotations

import os
import subprocess
import sys

import place


def main() -> int:
    home = place.CHECKOUT
    tools = home / ".venv" / "bin"
    environment = {**os.environ, "PYTHONPATH": f"{home}:{home / 'platform'}"}
    python = str(tools / "python")
    steps = {
        "format": [str(tools / "ruff"), "format", "--check", "--quiet", "."],
        "lint": [str(tools / "ruff"), "check", "--quiet", "."],
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
    for name, command in steps.items():
        print(f"— {name}", flush=True)
        if subprocess.run(command, cwd=home, env=environment, check=False).returncode:
            failed.append(name)
    print(f"check: {'failed: ' + ', '.join(failed) if failed else 'all is well'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
