"""What is looked at on the host around a play: whether the attack reached anything, and whether it left anything.

Everything is told by names that belong to this one play (its token, its run, its sandboxes), so that plays may go on side
by side, beside a running site.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from django.conf import settings

PATIENCE_S = 15.0  #: how long what is ending may take to be gone
OPEN_TO_ALL = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/")  # noqa: S108 - looked at, not used
KERNEL_SETTINGS = (
    "kernel/core_pattern",
    "kernel/hostname",
    "kernel/modprobe",
    "kernel/pid_max",
    "vm/overcommit_memory",
    "net/ipv4/ip_forward",
)
CLOCK_SLACK_S = 30.0


def _settings_of_the_kernel() -> dict[str, str]:
    found = {}
    for name in KERNEL_SETTINGS:
        with contextlib.suppress(OSError):
            found[name] = (Path("/proc/sys") / name).read_text()
    return found


def pid_namespace(pid: int) -> str:
    """The PID namespace that a process of the host lives in; empty if it is gone."""
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""


def pids_of(sandbox: Path) -> list[int]:
    """Host pids that the runtime noted of a running sandbox, given its directory."""
    try:
        return [int(row["pid"]) for row in json.loads((sandbox / "process.json").read_text())]
    except FileNotFoundError:
        return []


def processes_in(namespaces: set[str]) -> list[int]:
    """Host pids of all processes in these PID namespaces."""
    pids = [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]
    return [pid for pid in pids if pid_namespace(pid) in namespaces]


def gone_in_time(look: Callable[[], list[str]]) -> list[str]:
    """What ``look`` still finds after some patience."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := look()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


@dataclass(slots=True)
class HostWitness:
    """Ears on the host for one play; a context. ``token`` is in the name of whatever the attack leaves."""

    token: str = field(default_factory=lambda: f"bypass-{secrets.token_hex(6)}")
    namespaces: set[str] = field(default_factory=set)  #: PID namespaces of the play's sandboxes
    sandboxes: set[str] = field(default_factory=set)  #: their names
    _ears: list[socket.socket] = field(default_factory=list)
    _clocks: float = 0.0
    _kernel: dict[str, str] = field(default_factory=dict)

    @property
    def port(self) -> int:
        """A port of the host's loopback on which this witness listens, by TCP and by UDP."""
        return int(self._ears[0].getsockname()[1])

    @property
    def abstract(self) -> str:
        """The name of an abstract unix socket on which it listens."""
        return f"\0{self.token}"

    def __enter__(self) -> HostWitness:
        stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        stream.bind(("127.0.0.1", 0))
        self._ears.append(stream)
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(("127.0.0.1", self.port))
        abstract = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        abstract.bind(self.abstract)
        self._ears += [datagrams, abstract]
        for ear in self._ears:
            ear.setblocking(False)
            if ear.type == socket.SOCK_STREAM:
                ear.listen(8)
        self._clocks, self._kernel = time.time() - time.monotonic(), _settings_of_the_kernel()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for ear in self._ears:
            ear.close()

    def note_sandbox(self, name: str, pids: list[int]) -> None:
        """Remember a sandbox of this play while it lives."""
        self.sandboxes.add(name)
        self.namespaces |= {found for pid in pids if (found := pid_namespace(pid))} - {pid_namespace(os.getpid())}

    # ---- afterwards

    def reached(self) -> Iterator[str]:
        """What of the host the attack got through to."""
        for ear in self._ears:
            with contextlib.suppress(BlockingIOError):
                if ear.type == socket.SOCK_DGRAM:
                    ear.recvfrom(64)
                else:
                    ear.accept()[0].close()
                yield f"it reached the host's {ear.family.name} {ear.type.name} socket"
        if abs(time.time() - time.monotonic() - self._clocks) > CLOCK_SLACK_S:
            yield "the host's clock was turned"
        changed = {name for name, text in _settings_of_the_kernel().items() if text != self._kernel.get(name)}
        yield from (f"the kernel's setting {name} was changed" for name in sorted(changed))

    def left(self, places: list[Path]) -> Iterator[str]:
        """What is still there of the play's sandboxes, or bears its token, once they should be gone."""
        pids = gone_in_time(lambda: [str(pid) for pid in processes_in(self.namespaces)])
        if pids:
            yield f"processes of the sandbox live on: {', '.join(pids)}"
        groups = gone_in_time(lambda: [str(path) for path in self._control_groups()])
        yield from (f"the cgroup {path} is left" for path in groups)
        still = gone_in_time(lambda: [str(path) for path in places if os.path.lexists(path)])
        yield from (f"{path} is left" for path in still)
        yield from (f"{path} was written outside of the sandbox" for path in self.marked())

    def _control_groups(self) -> list[Path]:
        from grading.worlds import grading_runtime
        from workspaces.runtime.limits import ControlGroups

        enforcement = grading_runtime().enforcement
        if not isinstance(enforcement, ControlGroups):
            return []
        return [
            path
            for parent in set(enforcement.parents.values())
            for name in self.sandboxes
            for path in parent.glob(f"{name}-*")
        ]

    def marked(self) -> list[str]:
        """Files of the host whose names bear the token: where all may write, and everywhere below the site's own folder."""
        found = []
        for place in (*OPEN_TO_ALL, str(Path.home())):
            with contextlib.suppress(OSError):
                found += [entry.path for entry in os.scandir(place) if self.token in entry.name]
        for folder, folders, names in os.walk(settings.VAR):
            found += [str(Path(folder) / name) for name in [*folders, *names] if self.token in name]
        return sorted(set(found))
