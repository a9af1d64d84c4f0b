"""`make test`: check, then every test, as the user that the product runs as.

python3 ops/run_tests.py [pytest arguments]
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import place
from docker_for_tests import docker_for_tests

PLENTY_BYTES = 4 * 2**30


def all_as_root() -> int:
    """What differs when root starts things can only be tried with root's rights: beside all others, which give them up."""
    home = place.running_place()
    command = [str(home / ".venv" / "bin" / "python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["tests/e2e/test_as_root.py", "tests/workspaces/test_enforcement_as_root.py"]
    command += ["tests/deployment/test_two_hosts.py"]
    command += ["tests/workspaces/test_dockerd_restarts.py"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryFile() as said, docker_for_tests(place.ensure_user().pw_gid) as docker:
        of_root = subprocess.Popen(command, cwd=home, env=environment | docker, stdout=said, stderr=subprocess.STDOUT)
        try:
            failed = subprocess.run(
                [sys.executable, __file__, "tests"], env={**os.environ, **docker}, check=False
            ).returncode
            failed_of_root = of_root.wait()
        finally:
            of_root.kill()
        said.seek(0)
        sys.stdout.buffer.write(b"as root:\n" + said.read())
        sys.stdout.flush()
    return failed or failed_of_root


def scratch_root() -> str:
    """Memory where there is plenty: hundreds of small databases wait for the disk otherwise. Short, for unix sockets."""
    memory = Path("/dev/shm")
    enough = memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > PLENTY_BYTES
    return str(memory) if enough else "/tmp"


def tell_commit() -> None:
    """Some tests take turns by the commit, and the copy that the tests may run from knows none."""
    command = ["git", "-c", "safe.directory=*", "-C", str(place.CHECKOUT), "rev-parse", "HEAD"]
    with contextlib.suppress(OSError):
        said = subprocess.run(command, capture_output=True, text=True, check=False)
        if said.returncode == 0:
            os.environ.setdefault("COMMIT_UNDER_TEST", said.stdout.strip())


def main(arguments: list[str]) -> int:
    tell_commit()
    if place.is_root() and not arguments:
        return all_as_root()
    place.settle("ops/run_tests.py", refresh=False)
    home = place.CHECKOUT
    os.chdir(home)
    os.umask(0o022)  # the usual one, whatever the caller's: what a test leaves to the umask is seen here as elsewhere
    scratch = tempfile.mkdtemp(prefix="fdt-", dir=scratch_root())
    environment = {**os.environ, "TMPDIR": scratch, "PYTHONPYCACHEPREFIX": str(Path(scratch) / "pyc")}
    pytest = [str(home / ".venv" / "bin" / "python"), "-m", "pytest", "-o", f"cache_dir={scratch}/pytest"]
    # A file each: its tests share servers, worlds or a whole running product. (``loadgroup`` is not taken notice of with
    # pytest 9.2: pytest-xdist 3.8 writes the group into a field that is no longer read.)
    # One more than there are processors: many tests wait for something most of their time.
    pytest += ["-n", str(1 + max(2, os.cpu_count() or 1)), "--dist", "loadfile", "--no-loadscope-reorder"]
    try:
        return subprocess.run([*pytest, *arguments], env=environment, check=False).returncode
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
