"""Where things run and as whom. Standard library only: it works before anything is installed.

Started as an ordinary user, everything runs from this checkout as that user. Started as root, nothing of the product
does: processes belong to the system user ``fdegym`` (root-started sandboxes could not limit processes). A checkout
that this user cannot read, below /root say, is copied to /var/lib/fdegym and runs there.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
USER = "fdegym"
HOME = Path("/var/lib/fdegym")
#: Never copied: what belongs to the place where it was made.
NOT_COPIED = (
    ".git", ".venv", "var", "node_modules", "__pycache__",
    ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".import_linter_cache",
)  # fmt: skip


def is_root() -> bool:
    return os.geteuid() == 0


def ensure_user() -> pwd.struct_passwd:
    """The unprivileged system user; made on first use (root only)."""
    try:
        return pwd.getpwnam(USER)
    except KeyError:
        subprocess.run(
            ["useradd", "--system", "--create-home", "--home-dir", str(HOME), "--shell", "/usr/sbin/nologin", USER],
            check=True,
        )
        return pwd.getpwnam(USER)


def _readable_for(path: Path, user: pwd.struct_passwd) -> bool:
    """Whether the user reaches and reads everything in the checkout, asked as that user."""
    kept_out = " -o ".join(f"-name {name} -prune" for name in NOT_COPIED)
    script = f'cd "$1" && find . {kept_out} -o ! -readable -print -quit'
    command = [
        "setpriv",
        f"--reuid={user.pw_uid}",
        f"--regid={user.pw_gid}",
        "--clear-groups",
        "sh",
        "-c",
        script,
        "sh",
    ]
    asked = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    return asked.returncode == 0 and not asked.stdout


def _copy(source: Path, target: Path) -> None:
    """Bring ``target`` to what ``source`` holds; its own .venv and var stay."""
    target.mkdir(mode=0o755, parents=True, exist_ok=True)
    for entry in target.iterdir():
        if entry.name not in NOT_COPIED:
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    for entry in source.iterdir():
        if entry.name in NOT_COPIED:
            continue
        if entry.is_dir() and not entry.is_symlink():
            shutil.copytree(entry, target / entry.name, symlinks=True, ignore=shutil.ignore_patterns(*NOT_COPIED))
        else:
            shutil.copy2(entry, target / entry.name, follow_symlinks=False)
    for path in [target, *target.rglob("*")]:
        if not {".venv", "var"} & set(path.relative_to(target).parts) and not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))


def running_place(*, refresh: bool = True) -> Path:
    """The directory to run from; as root with an unreadable checkout, its copy (brought up to date)."""
    if not is_root() or CHECKOUT.is_relative_to(HOME):
        return CHECKOUT
    user = ensure_user()
    if _readable_for(CHECKOUT, user):
        return CHECKOUT
    mark = hashlib.sha256(str(CHECKOUT).encode()).hexdigest()[:8]
    target = HOME / f"{CHECKOUT.name}-{mark}"
    if refresh or not target.exists():
        HOME.mkdir(mode=0o755, exist_ok=True)
        HOME.chmod(0o755)
        _copy(CHECKOUT, target)
    return target


def drop_privileges(home: Path | None = None) -> None:
    """Become the unprivileged user for good; nothing as an ordinary user."""
    if not is_root():
        return
    user = ensure_user()
    os.setgroups([])
    os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
    os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    os.umask(0o022)
    os.environ.update(HOME=str(home or user.pw_dir), USER=USER, LOGNAME=USER)


def settle(script: str, *, refresh: bool = True) -> None:
    """Return only in the right process: else replace this one by ``script`` (a path in the checkout) run from the right
    place, as the right user, with the project's own interpreter. The arguments are kept.
    """
    home = running_place(refresh=refresh)
    python = home / ".venv" / "bin" / "python"
    if not is_root() and Path(sys.prefix) == python.parents[1]:
        return
    if not python.exists():
        sys.exit("fdegym: this checkout is not set up yet: run `make setup` first.")
    drop_privileges()
    os.execv(python, [str(python), str(home / script), *sys.argv[1:]])
