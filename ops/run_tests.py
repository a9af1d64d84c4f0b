"""`make test`: check, then every test, as the user that the product runs as.

python3 ops/run_tests.py [pytest arguments]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import place


def tests_of_root() -> int:
    """What differs when root starts things can only be tried before the rights are given up."""
    home = place.running_place()
    command = [str(home / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([*command, "tests/e2e/test_as_root.py"], cwd=home, env=environment, check=False).returncode


def main(arguments: list[str]) -> int:
    if place.is_root() and not arguments and (failed := tests_of_root()):
        return failed
    place.settle("ops/run_tests.py", refresh=False)
    home = place.CHECKOUT
    os.chdir(home)
    # A short path: unix sockets of the tests lie below it.
    scratch = tempfile.mkdtemp(prefix="fdt-", dir="/tmp")
    environment = {**os.environ, "TMPDIR": scratch, "PYTHONPYCACHEPREFIX": str(Path(scratch) / "pyc")}
    pytest = [str(home / ".venv" / "bin" / "python"), "-m", "pytest", "-o", f"cache_dir={scratch}/pytest"]
    # Two at a time, a file each: its tests share servers, worlds or a whole running product. (``loadgroup`` is not taken
    # notice of with pytest 9.2: pytest-xdist 3.8 writes the group into a field that is no longer read.)
    pytest += ["-n", "2", "--dist", "loadfile"]
    return subprocess.run([*pytest, *arguments], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
