"""`make test`: check, then every test, as the user that the product runs as.

python3 ops/run_tests.py [pytest arguments]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import place

PLENTY_BYTES = 4 * 2**30


def tests_of_root() -> int:
    """What differs when root starts things can only be tried before the rights are given up."""
    home = place.running_place()
    command = [str(home / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["tests/e2e/test_as_root.py", "tests/workspaces/test_enforcement_as_root.py"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=home, env=environment, check=False).returncode


def scratch_root() -> str:
    """Memory where there is plenty: hundreds of small databases wait for the disk otherwise. Short, for unix sockets."""
    memory = Path("/dev/shm")
    enough = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > PLENTY_BYTES
    return str(memory) if enough else "/tmp"


def main(arguments: list[str]) -> int:
    if place.is_root() and not arguments and (failed := tests_of_root()):
        return failed
    place.settle("ops/run_tests.py", refresh=False)
    home = place.CHECKOUT
    os.chdir(home)
    scratch = tempfile.mkdtemp(prefix="fdt-", dir=scratch_root())
    environment = {**os.environ, "TMPDIR": scratch, "PYTHONPYCACHEPREFIX": str(Path(scratch) / "pyc")}
    pytest = [str(home / ".venv" / "bin" / "python"), "-m", "pytest", "-o", f"cache_dir={scratch}/pytest"]
    # Two at a time, a file each: its tests share servers, worlds or a whole running product. (``loadgroup`` is not taken
    # notice of with pytest 9.2: pytest-xdist 3.8 writes the group into a field that is no longer read.)
    pytest += ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
    try:
        return subprocess.run([*pytest, *arguments], env=environment, check=False).returncode
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
