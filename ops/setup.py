"""`make setup`: everything that running and testing need, once; a second run changes nothing and takes a second.

    python3 ops/setup.py [run|test]

Standard library only. ``run`` (the default) prepares the product; ``test`` also what the tests need. As root, missing
Debian packages are installed; as an ordinary user the one command that does is printed.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import place

OLDEST_PYTHON = (3, 11)
#: A program that shows whether a Debian package is there → the package.
RUN_PACKAGES = {"bwrap": "bubblewrap", "sqlite3": "sqlite3", "setpriv": "util-linux", "git": "git"}
TEST_PACKAGES = {
    "chromium": "chromium",
    "postgres": "postgresql",
    "redis-server": "redis-server",
    "tmux": "tmux",
    "nginx": "nginx-light",
    "yamllint": "yamllint",  # with it, Debian's Python reads YAML
    "dockerd": "docker.io",
    "mmdebstrap": "mmdebstrap",
}
#: What people expect in a shell. Root installs it along; nobody is kept from starting for the lack of it.
COMFORT_PACKAGES = {"vim": "vim-tiny", "nano": "nano", "less": "less"}
APPARMOR_PROFILE = Path("/etc/apparmor.d/fdegym-bwrap")
APPARMOR_TEXT = """abi <abi/4.0>,
include <tunables/global>
profile fdegym-bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
}
"""


class SetupProblem(Exception):
    """Something the person has to do; the text says what."""


def say(text: str) -> None:
    print(f"fdegym: {text}", flush=True)


def interpreter() -> str:
    """The Python to build the environment with: the system's, which every user can read, if it is new enough."""
    candidates = ["/usr/bin/python3", sys.executable] if place.is_root() else [sys.executable, "/usr/bin/python3"]
    for candidate in candidates:
        test = f"import sys; sys.exit(sys.version_info < {OLDEST_PYTHON})"
        if Path(candidate).exists() and subprocess.run([candidate, "-c", test], check=False).returncode == 0:
            return candidate
    raise SetupProblem(
        f"Python {'.'.join(map(str, OLDEST_PYTHON))} or newer is needed; this is {sys.version.split()[0]}."
    )


def missing_packages(wanted: dict[str, str]) -> list[str]:
    missing = [package for program, package in wanted.items() if not _which(program)]
    has_venv = subprocess.run(
        [interpreter(), "-c", "import ensurepip, venv"], check=False, capture_output=True
    ).returncode
    return sorted(set(missing + (["python3-venv"] if has_venv else [])))


def _which(program: str) -> str | None:
    names = {"vim": ("vim", "vim.tiny", "vi")}.get(program, (program,))
    versions = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")))  # Debian keeps them out of PATH
    path = ":".join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin", *versions])
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


def needs_apparmor_profile() -> bool:
    """Ubuntu 24.04 lets no unconfined program make user namespaces without a profile."""
    switch = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    return switch.exists() and switch.read_text().strip() == "1" and not APPARMOR_PROFILE.exists()


def install(packages: list[str]) -> None:
    """Debian packages, by root; raises ``SetupProblem`` with what apt said."""
    say(f"installing {', '.join(packages)}")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-q"], env=quiet, check=False, capture_output=True)
    command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    done = subprocess.run(command, env=quiet, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SetupProblem(f"{' '.join(command)} failed:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")


def system_part(wanted: dict[str, str]) -> None:
    """Debian packages and, where the kernel asks for it, the AppArmor profile."""
    missing, profile = missing_packages(wanted), needs_apparmor_profile()
    if (missing or profile) and not place.is_root():
        what = " and ".join(filter(None, [", ".join(missing), "an AppArmor profile for bubblewrap" if profile else ""]))
        raise SetupProblem(
            f"{what} must be installed first, once, by root:\n\n    sudo make system\n\nthen run this again."
        )
    if missing:
        install(missing)
    if profile:
        say("allowing bubblewrap to make user namespaces (AppArmor)")
        APPARMOR_PROFILE.write_text(APPARMOR_TEXT)
        subprocess.run(["apparmor_parser", "-r", str(APPARMOR_PROFILE)], check=True)
    if place.is_root() and (comfort := missing_packages(COMFORT_PACKAGES)):
        try:
            install(comfort)
        except SetupProblem:
            say(f"{', '.join(comfort)} could not be installed; everything works without.")


@contextlib.contextmanager
def one_at_a_time(home: Path) -> Iterator[None]:
    """Two set-ups of one place wait for each other."""
    try:
        lock = (home / ".setup-lock").open("w")
    except OSError as problem:
        raise SetupProblem(
            f"Nothing can be written in {home} ({problem.strerror}): clone into a directory that you may write."
        ) from problem
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def python_part(home: Path, lock_name: str) -> None:
    """The virtual environment, filled from the hashed lock file; marked done only when it is complete."""
    lock = home / lock_name
    venv = home / ".venv"
    mark = venv / f"complete-{lock_name}"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    if mark.exists() and mark.read_text() == wanted and (venv / "bin" / "python").exists():
        return
    free_mb = shutil.disk_usage(home).free // 2**20
    if free_mb < 1500:
        raise SetupProblem(f"only {free_mb} MB are free on the disk of {home}; the set-up needs 1,500 MB.")
    say("installing the Python packages (once, about a minute)")
    if not (venv / "bin" / "pip").exists():
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([interpreter(), "-m", "venv", str(venv)], check=True)
    command = [str(venv / "bin" / "pip"), "install", "-q", "--no-input", "--require-hashes", "-r", str(lock)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise SetupProblem(f"the Python packages could not be installed:\n{done.stderr[-2000:]}")
    mark.write_text(wanted)


def product_part(home: Path) -> None:
    """Database, static files, worlds and matcher: as the user that the product runs as."""
    var = Path(os.environ.get("FDEGYM_VAR") or home / "var")
    var.mkdir(mode=0o700, exist_ok=True)
    if place.is_root():
        user = place.ensure_user()
        for path in [var, *(var.iterdir())]:
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
    done = subprocess.run([str(home / ".venv" / "bin" / "python"), str(home / "manage.py"), "prepare"], check=False)
    if done.returncode:
        raise SetupProblem("the set-up stopped; what is said above tells why. What was done is kept: run it again.")


def main(purpose: str) -> int:
    try:
        if sys.version_info < OLDEST_PYTHON:
            interpreter()
        wanted = RUN_PACKAGES | (TEST_PACKAGES if purpose in ("test", "system") else {})
        system_part(wanted)
        if purpose == "system":
            return 0
        home = place.running_place()
        with one_at_a_time(home):
            python_part(home, "requirements-dev.lock" if purpose == "test" else "requirements.lock")
            product_part(home)
    except SetupProblem as problem:
        say(str(problem))
        return 1
    except subprocess.CalledProcessError as problem:
        say(f"{' '.join(map(str, problem.cmd))} failed with status {problem.returncode}.")
        return 1
    except KeyboardInterrupt:
        say("stopped; what was done is kept.")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "run"))
