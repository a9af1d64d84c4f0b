"""A host as an attacker would wish it: full of secrets and listening sockets, all of which anybody there may use.

Whatever of it is reached is seen from outside: connections are counted, files compared, processes looked at.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import secrets
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from tests.isolation.programs.attempt import Facts, checked, libc
from workspaces.runtime import seccomp

ROOT = Path(__file__).resolve().parents[2]
IPC_PRIVATE, IPC_RMID, IPC_CREAT = 0, 0, 0o1000
#: Lets any process of its user trace it, where the kernel asks for that; says when it has; then does nothing.
VICTIM = (
    "import ctypes, time; ctypes.CDLL(None).prctl(0x59616d61, -1, 0, 0, 0); print('up', flush=True); time.sleep(9e9)"
)


def system_calls() -> dict[str, int]:
    """Their numbers on this machine."""
    import platform

    column = list(seccomp.ARCHITECTURES).index(platform.machine())
    named = {"clone": seccomp.CLONE, "clone3": seccomp.CLONE3, "prlimit64": seccomp.PRLIMIT64}
    named |= {"sched_setparam": seccomp.SCHED_SETPARAM}
    numbers = {name: each[column] for name, each in {**seccomp.REFUSED, **named}.items()}
    return {name: number for name, number in numbers.items() if number is not None}


def own_addresses() -> list[str]:
    """Addresses of this host beyond its loopback, if it has any."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # of a datagram socket: sends nothing
        return [probe.getsockname()[0]]
    return []


class Ground:
    """Use as a context manager. ``facts`` is what an accomplice on this host would tell."""

    def __init__(self) -> None:
        self.secret = f"canary{secrets.token_hex(16)}"
        self.directory = Path(tempfile.mkdtemp(prefix="fi-", dir="/var/tmp"))
        self.directory.chmod(0o755)
        self.shown = self.directory / "shown"
        self.own_gateway = self.directory / "gateway" / "own"
        self._open = contextlib.ExitStack()
        self._listening: dict[str, socket.socket] = {}
        self.facts = Facts()

    def __enter__(self) -> Ground:
        try:
            paths = self._plant()
            sockets = self._listen()
            self.victim = self._victim()
            posix = Path("/dev/shm", f"fi-{self.secret[-8:]}")
            posix.write_text(self.secret)
            self._open.callback(posix.unlink)
            plain = os.open(paths["plain"], os.O_RDONLY)
            self._open.callback(os.close, plain)
            self.left_open = plain
            ports = {name: each.getsockname()[1] for name, each in self._listening.items() if name.endswith("_port")}
            self.facts = Facts(
                secrets=paths,
                sockets=sockets,
                shown=str(self.shown),
                own_gateway=str(self.own_gateway),
                addresses=own_addresses(),
                abstract=self.secret[::-1],
                victim=self.victim.pid,
                first_process=self.victim.pid,
                shared_memory=self._shared_memory(),
                posix_memory=posix.name,
                hunting_ground=str(self.directory),
                calls=system_calls(),
                **ports,
            )
            self._before = self._state()
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def facts_inside(self, **more: object) -> Facts:
        """The same for somebody in a sandbox, who sees shown folders elsewhere and PID 1 as the first process."""
        inside = replace(self.facts, shown="/workspace/shown", own_gateway="/run/gateway", first_process=1)
        return replace(inside, hunting_ground="/", **more)  # type: ignore[arg-type]

    def touched(self) -> list[str]:
        """What was reached since it was asked last, in words."""
        found = []
        for name, listening in self._listening.items():
            with contextlib.suppress(BlockingIOError):
                while True:
                    if listening.type == socket.SOCK_DGRAM:
                        listening.recv(100)
                    else:
                        listening.accept()[0].close()
                    found.append(f"{name} was reached")
        after = self._state()
        found += [
            f"{what}: {self._before[what]} became {after[what]}" for what in after if after[what] != self._before[what]
        ]
        self._before = after
        return found

    # how

    def _plant(self) -> dict[str, str]:
        self._open.callback(shutil.rmtree, self.directory, ignore_errors=True)
        for folder in (self.shown, self.own_gateway, self.directory / "storage", self.directory / "models"):
            folder.mkdir(parents=True)
        (self.directory / "checkout" / "grading").mkdir(parents=True)
        (self.directory / "checkout" / "grading" / "score.py").write_text(f"# {self.secret}\n")
        paths = {"checkout": str(self.directory / "checkout")}
        for name, path in {
            "answers": "expected.csv",
            "model": "models/encoder.onnx",
            "storage": "storage/storage.tar",
        }.items():
            (self.directory / path).write_text(f"{self.secret}\n")
            paths[name] = str(self.directory / path)
        paths["plain"] = str(self.directory / "outside.txt")
        Path(paths["plain"]).write_text(f"{self.secret}\n")
        paths["database"] = str(self.directory / "db.sqlite3")
        with contextlib.closing(sqlite3.connect(paths["database"])) as database, database:
            database.execute("create table answers (text)")
            database.execute("insert into answers values (?)", (self.secret,))
        (self.shown / "file").write_text("as given\n")
        for shown in (self.shown, self.shown / "file"):  # it is not its mode that keeps anybody from writing
            shown.chmod(0o777)
        return paths

    def _listen(self) -> dict[str, str]:
        self._bind("tcp_port", socket.AF_INET, ("0.0.0.0", 0))
        self._bind("udp_port", socket.AF_INET, ("0.0.0.0", 0), socket.SOCK_DGRAM)
        with contextlib.suppress(OSError):  # a host may have no IPv6 at all
            self._bind("tcp6_port", socket.AF_INET6, ("::1", 0))
        self._bind("abstract", socket.AF_UNIX, f"\0{self.secret[::-1]}")
        places = {"desk": "desk/desk.sock", "gateway": "gateway/other/gateway.sock", "keeper": "keeper.sock"}
        for name, place in places.items():
            path = self.directory / place
            path.parent.mkdir(parents=True, exist_ok=True)
            self._bind(name, socket.AF_UNIX, str(path))
            path.chmod(0o666)
        return {name: str(self.directory / place) for name, place in places.items()}

    def _bind(self, name: str, family: int, address: object, kind: int = socket.SOCK_STREAM) -> None:
        listening = self._open.enter_context(socket.socket(family, kind))
        listening.bind(address)  # type: ignore[arg-type]
        listening.setblocking(False)
        if kind == socket.SOCK_STREAM:
            listening.listen()
        self._listening[name] = listening

    def _victim(self) -> subprocess.Popen[bytes]:
        environment = {"SECRET": self.secret}
        command = [sys.executable, "-S", "-c", VICTIM, self.secret]
        victim = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        self._open.callback(victim.wait)
        self._open.callback(victim.kill)
        assert victim.stdout is not None
        self._open.callback(victim.stdout.close)
        assert victim.stdout.readline() == b"up\n"
        return victim

    def _shared_memory(self) -> int:
        number = checked(libc.shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0o666))
        self._open.callback(libc.shmctl, number, IPC_RMID, None)
        libc.shmat.restype = ctypes.c_void_p
        address = libc.shmat(number, None, 0)
        ctypes.memmove(address, self.secret.encode(), len(self.secret))
        libc.shmdt(ctypes.c_void_p(address))
        return number

    def _state(self) -> dict[str, object]:
        """Of files and of the victim, to be compared."""
        found: dict[str, object] = {"shown": sorted(path.name for path in self.shown.iterdir())}
        with contextlib.suppress(OSError):
            path = self.shown / "file"
            said = path.stat()
            found["file"] = (path.read_bytes(), said.st_mode, said.st_nlink, said.st_uid, said.st_mtime_ns)
        found["ground"] = sorted(path.name for path in self.directory.iterdir())
        found["victim"] = self.victim.poll() or self._of_victim()
        return {**dict.fromkeys(("shown", "file", "ground", "victim")), **found}

    def _of_victim(self) -> object:
        try:
            fields = Path(f"/proc/{self.victim.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return "gone"
        traced = [
            line for line in Path(f"/proc/{self.victim.pid}/status").read_text().splitlines() if "TracerPid" in line
        ]
        return (fields[0] in "TtZ", fields[16], traced, sorted(os.sched_getaffinity(self.victim.pid)))
