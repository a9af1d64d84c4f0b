"""Who holds a sandbox to its totals of memory and processes: a cgroup where the host lends one, else a watcher.

Bytes and inodes are always held by the sandbox's own file system, open files and file sizes by rlimits. Memory of a
whole sandbox is not an rlimit's business: it takes a cgroup (v2 delegated to this user, or v1 writable). Without one
the launcher, PID 1 inside, adds up all processes every 200 ms and kills the largest when they hold too much. It does
so within a cgroup too: the kernel counts files and programs together there, and files have a bound of their own. Where
only shells wait for somebody to type, or in a cgroup, in which the kernel holds the whole, it looks every two seconds
until something moves (``launcher.calm``).
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workspaces.runtime.base import Limits

GROUP = "fdegym"
MIB = 1 << 20
EMPTY_S = 600.0  #: a younger group without processes is one that is just being made
SPARE_PROCESSES = 4  #: the launcher, the sandboxing tool, and a job of the launcher


@dataclass(frozen=True, slots=True)
class ControlGroup:
    """The cgroup directories of one sandbox: one for v2, one for each controller for v1. Empty: there is none."""

    directories: tuple[Path, ...] = ()

    def entry_files(self) -> list[Path]:
        """Where a process writes its pid to join."""
        return [directory / "cgroup.procs" for directory in self.directories]

    def processes(self) -> set[int]:
        """Host pids in the group."""
        pids: set[int] = set()
        for file in self.entry_files():
            with contextlib.suppress(OSError):
                pids.update(int(line) for line in file.read_text().split())
        return pids

    def memory_events(self) -> int | None:
        """A descriptor from which the kernel's kills for memory can be read; the caller owns it."""
        for directory in self.directories:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError):
                    return os.open(directory / name, os.O_RDONLY | os.O_CLOEXEC)
        return None

    def remove(self, wait_s: float = 2.0) -> None:
        """Kill what is left in it and remove it. Quiet if it cannot: an empty directory is left behind at worst."""
        deadline = time.monotonic() + wait_s
        while (alive := self.processes()) and time.monotonic() < deadline:
            for pid in alive:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
        for directory in self.directories:
            with contextlib.suppress(OSError):
                directory.rmdir()


class Watcher:
    """No cgroup: the launcher adds up memory; processes are bounded by an rlimit (which root escapes)."""

    def enforced_by(self) -> Mapping[str, str]:
        return {"memory": "watcher", "processes": "none: started as root" if os.geteuid() == 0 else "rlimit"}

    def create(self, sandbox_id: str, limits: Limits) -> ControlGroup:
        return ControlGroup()

    def find(self, sandbox_id: str) -> ControlGroup:
        return ControlGroup()


class ControlGroups:
    """A place in the cgroup tree where sandboxes get a group each."""

    def __init__(self, version: int, parents: Mapping[str, Path]) -> None:
        self.version = version
        self.parents = dict(parents)  #: controller -> directory; for v2 both are the same

    def enforced_by(self) -> Mapping[str, str]:
        named = f"cgroup v{self.version}"
        return dict.fromkeys(("memory", "processes"), named)

    def _remove_empty(self) -> None:
        """Groups whose maker was killed: the kernel removes none in which anything lives."""
        for parent in set(self.parents.values()):
            for directory in parent.iterdir():
                with contextlib.suppress(OSError):
                    if directory.is_dir() and time.time() - directory.stat().st_mtime > EMPTY_S:
                        directory.rmdir()

    def find(self, sandbox_id: str) -> ControlGroup:
        directories = dict.fromkeys(parent / sandbox_id for parent in self.parents.values())
        return ControlGroup(tuple(directory for directory in directories if directory.is_dir()))

    def create(self, sandbox_id: str, limits: Limits) -> ControlGroup:
        """Make the group with its limits set; a group left over from before is emptied first."""
        self._remove_empty()
        self.find(sandbox_id).remove()
        memory, pids = self.parents["memory"] / sandbox_id, self.parents["pids"] / sandbox_id
        for directory in (memory, pids):
            directory.mkdir(exist_ok=True)
        # files of the sandbox lie in memory too and are charged here: they have a bound of their own
        total = (limits.memory_mb + limits.disk_mb + limits.shm_mb) * MIB
        if self.version == 2:
            (memory / "memory.max").write_text(str(total))
            with contextlib.suppress(OSError):
                (memory / "memory.swap.max").write_text("0")
        else:
            (memory / "memory.limit_in_bytes").write_text(str(total))
            with contextlib.suppress(OSError):  # only with swap accounting
                (memory / "memory.memsw.limit_in_bytes").write_text(str(total))
        (pids / "pids.max").write_text(str(limits.processes + SPARE_PROCESSES))
        return ControlGroup(tuple(dict.fromkeys((memory, pids))))


def _writable(directory: Path) -> bool:
    return directory.is_dir() and os.access(directory, os.W_OK)


def _version_1(root: Path) -> ControlGroups | None:
    parents = {}
    for controller in ("memory", "pids"):
        parent = root / controller / GROUP
        if not _writable(parent):
            try:
                parent.mkdir()
            except OSError:
                return None
        parents[controller] = parent
    return ControlGroups(1, parents)


def _version_2(root: Path, own: str) -> ControlGroups | None:
    """Our own group, if it was delegated: its processes move to a leaf, so that it may have children with limits."""
    base = root / own.lstrip("/")
    while base.name in ("supervisor", GROUP) and base != root:
        base = base.parent
    if not (os.access(base, os.W_OK) and os.access(base / "cgroup.procs", os.W_OK)):
        return None
    try:
        available = set((base / "cgroup.controllers").read_text().split())
        if not {"memory", "pids"} <= available:
            return None
        leaf, parent = base / "supervisor", base / GROUP
        leaf.mkdir(exist_ok=True)
        for pid in (base / "cgroup.procs").read_text().split():
            (leaf / "cgroup.procs").write_text(pid)
        (base / "cgroup.subtree_control").write_text("+memory +pids")
        parent.mkdir(exist_ok=True)
        (parent / "cgroup.subtree_control").write_text("+memory +pids")
    except OSError:
        return None
    return ControlGroups(2, {"memory": parent, "pids": parent})


def find_enforcement(
    root: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")
) -> ControlGroups | Watcher:
    """The best this host offers to this user."""
    with contextlib.suppress(OSError):
        for line in own.read_text().splitlines():
            number, _, path = line.split(":", 2)
            if number == "0" and (root / "cgroup.controllers").exists():
                found = _version_2(root, path)
                if found is not None:
                    return found
    return _version_1(root) or Watcher()
