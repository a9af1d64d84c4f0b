"""What a load costs: CPU and memory of each process of the product, and what else kept the machine busy."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ops.bench_site import KINDS
from ops.load.product import ROOT

#: Beside what the benchmark knows: the gateway, and in a workspace its first process (which nothing inside can trace).
FURTHER = {" gateway": "gateway", "fdegym_launcher.main": "launchers", "bwrap": "sandboxing"}
TICKS = os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Process:
    pid: int
    parent: int
    name: str
    cpu_s: float
    children_s: float  #: CPU of the children that it has collected


def processes() -> dict[int, Process]:
    found = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                own, collected = (sum(map(int, fields[at : at + 2])) / TICKS for at in (11, 13))
                found[int(entry.name)] = Process(int(entry.name), int(fields[1]), command[:2000], own, collected)
    return found


def below(root: int, of: dict[int, Process]) -> Iterator[Process]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for each in of.values():
        children.setdefault(each.parent, []).append(each.pid)
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        waiting += children.get(pid, [])
        if pid in of:
            yield of[pid]


def kind_of(process: Process) -> str:
    for mark, kind in {**FURTHER, **KINDS}.items():
        if mark in process.name:
            return kind
    return "shells and programs"


def memory_kb(pid: int) -> int:
    """Proportional set size, so that what processes share is counted once.

    Of a process that cannot be traced (a launcher) the kernel tells it to root alone; to others what is that process's own.
    """
    try:
        return _figures(PROC / str(pid) / "smaps_rollup", "Pss")
    except OSError:
        return _figures(PROC / str(pid) / "status", "RssAnon", "RssShmem")


def _figures(path: Path, *names: str) -> int:
    text = path.read_text()
    return sum(int(each) for name in names for each in re.findall(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE))


def memory_mb(root: int) -> dict[str, float]:
    """Kind of process → memory of all of that kind together."""
    found: Counter[str] = Counter()
    for process in below(root, processes()):
        with suppress(OSError):
            found[kind_of(process)] += memory_kb(process.pid)
    return {kind: round(kb / 1024, 1) for kind, kb in sorted(found.items())}


def busy_s() -> float:
    """CPU seconds that this machine has worked so far, for whomever."""
    user, nice, system, _idle, _waiting, *interrupts = map(int, (PROC / "stat").read_text().split("\n")[0].split()[1:9])
    return (user + nice + system + sum(interrupts)) / TICKS


@dataclass
class Meter:
    """Started and stopped around what is measured. ``root``: the supervisor's process, None where it is not ours."""

    root: int | None
    clients: tuple[int, ...] = ()
    _before: dict[int, Process] = field(default_factory=dict)
    _began: float = 0.0
    _busy_s: float = 0.0

    def start(self) -> None:
        self._before, self._began, self._busy_s = processes(), time.monotonic(), busy_s()

    def stop(self) -> dict[str, Any]:
        """Cores in use on average: by kind of process, by everything else on the machine, and by whom of that mostly."""
        after, took_s, machine_s = processes(), time.monotonic() - self._began, busy_s() - self._busy_s
        own = {each.pid: kind_of(each) for each in below(self.root, after)} if self.root else {}
        own |= dict.fromkeys(self.clients, "clients")
        spent: dict[str, float] = defaultdict(float)
        others: dict[str, float] = defaultdict(float)
        for pid, process in after.items():
            before = self._before.get(pid)
            cpu_s = process.cpu_s - (before.cpu_s if before else 0.0)
            if pid in own:
                spent[own[pid]] += cpu_s + process.children_s - (before.children_s if before else 0.0)
            elif cpu_s > 0.03 * took_s:
                others[_short(process.name)] += cpu_s
        return {
            "seconds": round(took_s, 1),
            "cores": {
                kind: round(cpu_s / took_s, 2) for kind, cpu_s in sorted(spent.items()) if cpu_s > 0.005 * took_s
            },
            "cores_of_others": round(max(0.0, machine_s - sum(spent.values())) / took_s, 2),
            "others": {
                name: round(cpu_s / took_s, 2) for name, cpu_s in sorted(others.items(), key=lambda one: -one[1])[:6]
            },
            "load_average": os.getloadavg()[0],
        }


def _short(command: str) -> str:
    words = [Path(word).name for word in command.split()[:6]]
    return " ".join(word for word in words if not word.startswith("-"))[:60]


def machine() -> dict[str, Any]:
    model = re.search(r"^model name\s*:\s*(.+)$", (PROC / "cpuinfo").read_text(), re.MULTILINE)
    total_kb = _figures(PROC / "meminfo", "MemTotal")
    git = ("git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT))
    commit = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    changed = subprocess.run([*git, "status", "--porcelain"], capture_output=True, text=True, check=False)
    return {
        "cores": os.cpu_count(),
        "cpu": model[1] if model else platform.machine(),
        "memory_gb": round(total_kb / 2**20),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "commit": commit.stdout.strip() + (" with changes" if changed.stdout.strip() else ""),
        "at": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }
