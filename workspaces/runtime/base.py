"""The contract of a sandbox runtime: what the keeper and the grader may ask of one, whichever runtime it is.

A runtime is passive about time and people: it knows no run, no user, no database. It is given a ``SandboxSpec`` and
labels, and can find its sandboxes again by label after its own process was killed. Two real runtimes (bubblewrap and,
for deployments, Docker) pass one conformance suite, ``tests/workspaces/test_runtime_conformance.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds of one sandbox. All are totals of the sandbox except where the name says ``call``."""

    memory_mb: int = 1024
    processes: int = 128
    disk_mb: int = 512  #: of system/, deliverables/, home and /tmp together; each has its part (layout.storage_shares)
    inodes: int = 50_000  #: likewise
    open_files: int = 1024
    cpus: float = 1.0  #: processors that all together may use, where the runtime can hold them to it
    shm_mb: int = 16


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Bounds of one replay step (one process started by the fork server)."""

    cpu_s: float = 60.0
    memory_mb: int = 512
    wall_s: float = 240.0
    file_mb: int = 64
    processes: int = 64
    output_bytes: int = 64 * 1024  #: how much of stdout and of stderr is kept (head); the rest is counted and dropped


@dataclass(frozen=True, slots=True)
class Mount:
    """A directory of the host shown inside the sandbox. Sockets are shown by their directory, never as a file."""

    source: Path
    target: str
    read_only: bool = True


@dataclass(frozen=True, slots=True)
class SandboxSpec:
    """Everything needed to create a sandbox.

    ``seed`` copies host files or directories into the sandbox's own writable storage when it is created:
    ``{"/workspace/system": Path(...)}``. Afterwards they belong to the sandbox and count against its disk limit.
    A source that ends in ``.tar`` is a tar made by ``Sandbox.snapshot``: its content is placed below the target.
    """

    limits: Limits = field(default_factory=Limits)
    mounts: Sequence[Mount] = ()
    seed: Mapping[str, Path] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    working_directory: str = "/workspace"
    writable: Sequence[str] = ("/workspace/system", "/workspace/deliverables")  #: besides home and /tmp
    hostname: str = "workspace"
    abandon_after_s: float = 86_400.0  #: ends by itself when nobody asked anything of it for so long
    labels: Mapping[str, str] = field(default_factory=dict)  #: found again by these after a restart


@dataclass(frozen=True, slots=True)
class SnapshotReport:
    """What a snapshot holds, and what it leaves out: (path, reason) of links, special files and what was too much."""

    files: int
    bytes: int
    skipped: tuple[tuple[str, str], ...] = ()


class SandboxState(StrEnum):
    CREATED = "created"
    RUNNING = "running"
    STOPPED = "stopped"  #: files are kept, no process lives; ``start`` resumes
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class ExecResult:
    """A finished command: its exit status (negative: killed by that signal), head of its output, what stopped it."""

    exit_status: int
    stdout: bytes
    stderr: bytes
    wall_s: float
    timed_out: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class StepResult:
    """A finished replay step.

    ``failure`` is ``None`` for exit status 0, else one of: ``exit`` (non-zero status), ``signal``, ``cpu_limit``,
    ``wall_limit``, ``memory_limit``, ``server_lost`` (the delivered code broke its own fork server).
    """

    exit_status: int
    failure: str | None
    cpu_s: float
    wall_s: float
    max_rss_mb: float
    stdout: bytes
    stderr: bytes
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class RuntimeReport:
    """What this runtime can do on this host, for operators and for the start-up check."""

    name: str
    usable: bool
    problem: str | None  #: why it is not usable and what to do, in words
    limits_enforced_by: Mapping[str, str]  #: e.g. {"memory": "cgroup" | "watcher", "processes": "rlimit", …}


class Sandbox(Protocol):
    """One sandbox. Every method may raise ``SandboxGone``: the sandbox died, which is not a failed command."""

    id: str

    def state(self) -> SandboxState: ...

    def exec(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        working_directory: str | None = None,
        timeout_s: float = 30.0,
        output_bytes: int = 1_000_000,
    ) -> ExecResult:
        """Run a command inside, as the sandbox's user, and wait for it. A timeout kills its whole process group."""
        ...

    def step(
        self,
        argv: Sequence[str],
        *,
        limits: CallLimits,
        stdin: bytes = b"",
        working_directory: str = "/workspace/system",
    ) -> StepResult:
        """Run ``python …`` by the fork server: ``argv`` is ("python", "-m", module, …) or ("python", file.py, …).

        The child is a process of its own with the standard library already imported. When it ends, everything it
        left running is killed before this returns.
        """
        ...

    def open_terminal(self, *, columns: int, rows: int, argv: Sequence[str] = ("bash", "-l")) -> tuple[int, int]:
        """Open a PTY inside and start a shell on it; return (master file descriptor, pid inside). Caller owns the fd."""
        ...

    def put(self, path: str, data: bytes) -> None:
        """Write a file (absolute path inside, beneath writable storage), creating parents. Never follows symlinks."""
        ...

    def read(self, path: str, *, max_bytes: int) -> bytes:
        """Read a regular file inside. Raises ``SandboxFileProblem`` if it is missing, a link, a FIFO, or too large."""
        ...

    def snapshot(self, target: Path, *, paths: Sequence[str], max_bytes: int) -> SnapshotReport:
        """Write an uncompressed tar of the given paths to ``target`` on the host. Regular files and directories only;
        names, modes and zeroed times, sorted: the same content gives the same bytes. Names are relative to the path,
        or with several paths to the deepest folder that holds them all."""
        ...

    def stop(self) -> None:
        """End every process inside; keep the files. Idempotent."""
        ...


class SandboxRuntime(Protocol):
    """Makes sandboxes. All methods are blocking and thread-safe; call them off the event loop."""

    name: str

    def report(self) -> RuntimeReport: ...

    def create(self, sandbox_id: str, spec: SandboxSpec) -> Sandbox:
        """Create, not start. Creating an id that exists raises ``SandboxExists``; a failed create leaves nothing behind."""
        ...

    def start(self, sandbox_id: str) -> Sandbox:
        """Start or resume; idempotent. Ready for ``exec`` when it returns."""
        ...

    def get(self, sandbox_id: str) -> Sandbox | None: ...

    def adopt(self, labels: Mapping[str, str]) -> list[Sandbox]:
        """Every sandbox, in any state, that carries these labels: found on the host, never from memory."""
        ...

    def destroy(self, sandbox_id: str) -> None:
        """Remove it with its files, from any state. Idempotent."""
        ...
