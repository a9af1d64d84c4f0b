"""`make run`: the five processes of the product on one machine, each restarted alone when it ends.

    python3 ops/supervisor.py

Standard library only. A deployment runs the same five commands as services instead (``docs/hosting.md``).
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import place

DRAIN_S = 3  #: for what is being answered or graded; somebody waits at the terminal
STOP_PATIENCE_S = 10.0  #: the drain, and a heartbeat of five seconds with which a grading is handed back
LONGEST_PAUSE_S = 10.0
HEALTHY_AFTER_S = 20.0
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
GATEWAY_KEY, GATEWAY_KEY_FILE = "FDEGYM_GATEWAY_KEY", "FDEGYM_GATEWAY_KEY_FILE"


def say(text: str) -> None:
    print(f"fdegym: {text}", flush=True)


def end_with_parent() -> None:
    """A killed supervisor takes its processes along: else they would hold port and sockets against the next one."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def take_gateway_key() -> tuple[dict[str, str], bytes]:
    """What the gateway's process alone is given: variables, and the key for its standard input, "" where there is none.

    The key is in nobody's environment from here on, and of this process's first one nobody but root can read it.
    """
    key, file = os.environ.pop(GATEWAY_KEY, ""), os.environ.pop(GATEWAY_KEY_FILE, "")
    if key:
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)
        return {GATEWAY_KEY_FILE: "/dev/stdin"}, key.encode()
    return ({GATEWAY_KEY_FILE: file} if file else {}), b""


@dataclass
class Service:
    """One process: its command, its log, and how often it ended lately.

    ``own``: variables that only this process gets. ``told``: what it finds on its standard input.
    """

    name: str
    argv: list[str]
    log: Path
    own: dict[str, str] = field(default_factory=dict)
    told: bytes = field(default=b"", repr=False)
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    failures: int = 0
    start_again_at: float = field(default=0.0)

    def start(self, home: Path, environment: dict[str, str]) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.argv,
                cwd=home,
                env={**environment, **self.own},
                stdout=log,
                stderr=log,
                stdin=subprocess.PIPE if self.told else subprocess.DEVNULL,
                preexec_fn=end_with_parent,
            )
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # it ended at once; that is told below
                self.process.stdin.write(self.told)
                self.process.stdin.close()
        self.started_at = time.monotonic()

    def look_after(self, home: Path, environment: dict[str, str]) -> None:
        """Start it again when it has ended; the more often it ended lately, the longer the pause before."""
        now = time.monotonic()
        if self.process is not None:
            status = self.process.poll()
            if status is None:
                if self.failures and now - self.started_at > HEALTHY_AFTER_S:
                    self.failures = 0
                return
            self.process = None
            pause = min(LONGEST_PAUSE_S, 0.2 * 2**self.failures)
            self.failures += 1
            self.start_again_at = now + pause
            say(f"{self.name} ended with status {status}; starting it again. Its log: {self.log}")
        if now >= self.start_again_at:
            self.start(home, environment)


def settings_of(home: Path) -> tuple[str, int, Path, Path]:
    """(bind address, port, var directory, socket directory) as the product itself reads its environment."""
    program = "from fdegym.env import read_or_exit as r; e = r(); print(e.bind, e.port, e.var, e.sockets, sep='\\n')"
    asked = subprocess.run(
        [str(home / ".venv" / "bin" / "python"), "-c", program],
        env={**os.environ, "PYTHONPATH": str(home / "platform")},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if asked.returncode:
        sys.exit(asked.returncode)
    bind, port, var, sockets = asked.stdout.splitlines()
    return bind, int(port), Path(var), Path(sockets)


def services(home: Path, bind: str, port: int, var: Path, sockets: Path) -> list[Service]:
    python = str(home / ".venv" / "bin" / "python")
    logs = var / "logs"
    logs.mkdir(exist_ok=True)
    keeper = [
        "-m",
        "workspaces.keeper",
        "--state-dir",
        str(var / "sandboxes"),
        "--socket",
        str(sockets / "keeper.sock"),
    ]
    worker = ["-m", "celery", "-A", "fdegym", "worker", "-B", "-s", str(var / "beat-schedule"), "--concurrency", "2"]
    worker += ["--loglevel", "INFO", "--without-gossip", "--without-mingle", "-n", "worker@localhost"]
    commands = {"keeper": keeper, "desk": [str(home / "manage.py"), "desk"]}
    commands |= {"gateway": [str(home / "manage.py"), "gateway"], "worker": worker, "site": ["-m", "fdegym.serve"]}
    return [Service(name, [python, *argv], logs / f"{name}.log") for name, argv in commands.items()]


def refuse_taken_port(bind: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in bind else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((bind, port))
        except OSError as problem:
            say(f"port {port} on {bind} cannot be used ({problem.strerror}). Choose another: FDEGYM_PORT=8001 make run")
            sys.exit(1)


def open_as_many_files_as_allowed() -> None:
    """A class has more sockets than the 1,024 files that a login may usually open; what is started here inherits it."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def only_one(var: Path) -> object:
    """A second supervisor of the same var directory would start everything twice."""
    lock = (var / "supervisor.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say(f"it is already running from {var}. Stop that one first (Ctrl-C where it runs).")
        sys.exit(1)
    return lock


def answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/health/", timeout=2) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def stop_all(running: list[Service]) -> None:
    """Ask all to end, in the reverse order of starting; after a while make them."""
    for service in reversed(running):
        if service.process and service.process.poll() is None:
            service.process.terminate()
    deadline = time.monotonic() + STOP_PATIENCE_S
    for service in running:
        if service.process:
            try:
                service.process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                service.process.kill()


def main() -> int:
    place.settle("ops/supervisor.py", refresh=False)
    home = place.CHECKOUT
    os.chdir(home)
    bind, port, var, sockets = settings_of(home)
    own, told = take_gateway_key()
    lock = only_one(var)
    refuse_taken_port(bind, port)
    open_as_many_files_as_allowed()
    environment = {
        "FDEGYM_DRAIN_S": str(DRAIN_S),
        **os.environ,
        "PYTHONPATH": f"{home}:{home / 'platform'}",
        "DJANGO_SETTINGS_MODULE": "fdegym.settings",
        "PYTHONUNBUFFERED": "1",
        # several threads for matrices this small only wait for each other
        "OPENBLAS_NUM_THREADS": "1",
    }
    running = services(home, bind, port, var, sockets)
    for service in running:
        if service.name == "gateway":
            service.own, service.told = own, told
    shown = "127.0.0.1" if bind in ("0.0.0.0", "::") else bind
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{port}"
    stopping = False

    def stop(_signal: int, _frame: object) -> None:
        nonlocal stopping
        stopping = True

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    announced = False
    while not stopping:
        for service in running:
            service.look_after(home, environment)
        if not announced and answers(address):
            announced = True
            say(f"ready at {address}   (Ctrl-C stops it; runs and files are kept)")
        time.sleep(0.1 if announced else 0.3)
    say("stopping; workspaces, messages and submissions are kept")
    stop_all(running)
    del lock
    return 0


if __name__ == "__main__":
    sys.exit(main())
