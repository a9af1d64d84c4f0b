"""The ways in which a host holds a sandbox to its totals of memory and processes, as far as this host has them.

The watcher works everywhere. A cgroup is used where the host lends one to this user by itself, or where a test that root
started lends one: ``LENT_CGROUPS`` then holds its version and directories as JSON.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from workspaces.runtime.limits import ControlGroups, Watcher, find_enforcement

LENT = "LENT_CGROUPS"
TREE = Path("/sys/fs/cgroup")


def lent_groups() -> ControlGroups | None:
    """A place in the cgroup tree that this user may use."""
    if os.environ.get(LENT):
        lent = json.loads(os.environ[LENT])
        return ControlGroups(lent["version"], {name: Path(path) for name, path in lent["parents"].items()})
    found = find_enforcement()
    return found if isinstance(found, ControlGroups) else None


HOLDERS = ["watcher", *(["cgroup"] if lent_groups() is not None else [])]


def hold_by(name: str) -> ControlGroups | Watcher:
    if name == "watcher":
        return Watcher()
    groups = lent_groups()
    assert groups is not None
    return groups


@contextlib.contextmanager
def lend_groups(uid: int, gid: int) -> Iterator[str | None]:
    """As root: delegate a place to a user, as an operator would; yield what ``LENT_CGROUPS`` shall be.

    ``None`` where the kernel or the container lets not even root make one that holds memory and processes.
    """
    found = find_enforcement()
    if not isinstance(found, ControlGroups):
        yield None
        return
    parents = {name: parent / f"lent-{os.getpid()}-{uid}" for name, parent in found.parents.items()}
    try:
        for directory in set(parents.values()):
            directory.mkdir()
            if found.version == 2:
                (directory / "cgroup.subtree_control").write_text("+memory +pids")
            for path in (directory, directory / "cgroup.procs", directory / "cgroup.subtree_control"):
                if path.exists():
                    os.chown(path, uid, gid)
        yield json.dumps({"version": found.version, "parents": {name: str(path) for name, path in parents.items()}})
    finally:
        for directory in set(parents.values()):
            _remove(directory)


def _remove(directory: Path) -> None:
    """The kernel takes a moment to let go of groups whose processes have just ended."""
    deadline = time.monotonic() + 30
    while directory.exists() and time.monotonic() < deadline:
        for child in [*(path for path in directory.iterdir() if path.is_dir()), directory]:
            with contextlib.suppress(OSError):
                child.rmdir()
        time.sleep(0.05)
    assert not directory.exists(), f"{directory} is in use by something that a test left running"
