"""Hosts beside the servers' one: each has a network and a name of its own, and shares no file that the product writes.

Only root can make them. What runs there has no right of root's: it is the product's own user.
"""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys

from tests.deployment.deployed import ACT, ROOT, DeployedSite
from tests.waiting import until

POSTGRES_PORT, REDIS_PORT = 5432, 6379
NAMESPACES = ("unshare", "--net", "--uts", "--mount")


def as_the_user() -> list[str]:
    """In front of a command: as the user that the product runs as, with no right beyond."""
    user = pwd.getpwnam("fdegym")
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--no-new-privs"]


def can_be_made() -> bool:
    """Whether this machine lets even root have networks beside its own: some containers do not."""
    tried = subprocess.run([*NAMESPACES, "true"], capture_output=True, check=False)
    return tried.returncode == 0


class Host:
    """A network, a name and mounts of its own, for as long as the process that holds them lives: at most until tests end."""

    def __init__(self, name: str) -> None:
        self.name = name
        begin = 'hostname "$0" && ip link set lo up && echo ready && exec sleep infinity'
        self._holder = subprocess.Popen(
            ["setpriv", "--pdeathsig=KILL", *NAMESPACES, "sh", "-c", begin, name],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout is not None
        with self._holder.stdout as said:
            assert said.readline() == "ready\n"

    @property
    def _enter(self) -> list[str]:
        return ["nsenter", f"--target={self._holder.pid}", "--net", "--uts", "--mount", f"--wd={ROOT}"]

    @property
    def within(self) -> list[str]:
        """In front of a command: on this host, as the product's user."""
        return [*self._enter, *as_the_user()]

    def _do(self, *command: object) -> None:
        """On this host, as root."""
        subprocess.run([*self._enter, *map(str, command)], check=True)

    def ip(self, command: str) -> None:
        self._do("ip", *command.split())

    def sees(self, path: object) -> bool:
        return subprocess.run([*self._enter, "test", "-e", str(path)], check=False).returncode == 0

    def cable_to(self, other: Host, number: int) -> str:
        """Join two hosts by a cable of their own; the other's address at it."""
        mine, theirs = f"to-{other.name}", f"to-{self.name}"
        self.ip(f"link add {mine} type veth peer name {theirs} netns {other._holder.pid}")
        for host, end, last in ((self, mine, 2), (other, theirs, 1)):
            host.ip(f"address add 10.77.{number}.{last}/24 dev {end}")
            host.ip(f"link set {end} up")
        return f"10.77.{number}.1"

    def remove(self) -> None:
        self._holder.kill()
        self._holder.wait(20)


class WorkerHost(Host):
    """A host that grades for a site: a worker that takes from one queue, with a var directory that began empty."""

    def __init__(self, name: str, number: int, servers: Host, site: DeployedSite) -> None:
        super().__init__(name)
        self._servers, self._site = servers, site
        address = self.cable_to(servers, number)
        self._do("mount", "-t", "tmpfs", "nothing", site.var)
        self.var = site.directory / name
        self.environment = site.environment | {
            "FDEGYM_VAR": str(self.var),
            "DATABASE_URL": f"postgres://fdegym@{address}:{POSTGRES_PORT}/{site.name}",
            "REDIS_URL": f"redis://{address}:{REDIS_PORT}/0",
        }
        self._running: list[subprocess.Popen[bytes]] = []

    def cut(self) -> None:
        """Nothing comes through any more, and nobody is told."""
        self._servers.ip(f"link set to-{self.name} down")

    def join_again(self) -> None:
        self._servers.ip(f"link set to-{self.name} up")

    def _start(self, log: str, *command: object) -> subprocess.Popen[bytes]:
        with (self._site.directory / f"{log}.log").open("ab") as written:
            process = subprocess.Popen(
                [*self.within, sys.executable, *map(str, command)],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=written,
                start_new_session=True,
            )
        self._running.append(process)
        return process

    def start_worker(self, *options: str) -> None:
        """Returns when it takes messages."""
        command = ["-m", "celery", "-A", "tests.deployment.hasty", "worker", "-Q", "grading", "--concurrency", "1"]
        self._start(self.name, *command, "--loglevel", "INFO", "--without-gossip", "--without-mingle", *options)
        until(lambda: " ready." in self.log(), lambda: f"a worker's readiness; logged:\n{self.log()}", within_s=120)

    def log(self) -> str:
        return self._site.log(self.name)

    def lock_a_row(self) -> None:
        """In a transaction that stays open as long as the process there lives."""
        name = f"{self.name}-hold"
        self._start(name, ACT, "hold")
        until(lambda: self._site.log(name).startswith("alice"), lambda: self._site.log(name), within_s=120)

    def stop(self) -> None:
        """End what runs there, at once."""
        for process in self._running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(20)
        self._running.clear()

    def remove(self) -> None:
        self.stop()
        super().remove()
