"""A running site of its own for `make bench`, and a visitor of it: an account, a run, tickets, figures of the processes."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
READY_PATIENCE_S = 180.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Visitor:
    """A browser without a screen: cookies, forms with their CSRF tokens, JSON."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.jar = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.jar))

    def get(self, path: str) -> str:
        with self.opener.open(self.address + path, timeout=60) as reply:
            return str(reply.read().decode())

    def post(self, path: str, fields: dict[str, str], page: str | None = None) -> str:
        """Send a form found on ``page``; the address that it leads to."""
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.get(page or path))
        data = urllib.parse.urlencode({**fields, "csrfmiddlewaretoken": token.group(1) if token else ""}).encode()
        request = urllib.request.Request(self.address + path, data, {"Referer": self.address + (page or path)})
        with self.opener.open(request, timeout=60) as reply:
            return str(reply.url)

    def post_json(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        token = next(cookie.value for cookie in self.jar if cookie.name == "csrftoken")
        headers = {"Content-Type": "application/json", "Accept": "application/json", "X-CSRFToken": token or ""}
        headers["Referer"] = self.address + path
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(), headers)
        with self.opener.open(request, timeout=120) as reply:
            return dict(json.loads(reply.read()))

    @property
    def cookie(self) -> str:
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.jar)

    def sign_up(self, name: str) -> None:
        password = "a-long-password-of-the-bench"
        self.post("/account/sign-up/", {"username": name, "password1": password, "password2": password})

    def begin(self, scenario: str, level: str = "L3") -> str:
        """Begin a run and wait until its workspace is open; the run's id."""
        address = self.post(f"/scenarios/{scenario}/begin/", {"level": level}, page=f"/scenarios/{scenario}/")
        run = re.search(r"/runs/([0-9a-f-]{36})/", address)
        if run is None:
            raise RuntimeError(f"the site led to {address} instead of a run")
        while json.loads(self.get(f"/runs/{run.group(1)}/state/"))["state"] == "preparing":
            time.sleep(0.02)
        return run.group(1)

    def terminal(self, run: str, number: int) -> str:
        """A WebSocket address with a fresh ticket."""
        ticket = self.post_json(f"/runs/{run}/terminals/ticket/", {"terminal": number})
        return self.address.replace("http", "ws", 1) + str(ticket["url"])


@contextmanager
def running_site() -> Iterator[tuple[str, Path, int]]:
    """(address, var directory, supervisor's process id) of a fresh site, ended and removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="fdb", dir="/tmp") as directory:
        port = free_port()
        environment = {**os.environ, "FDEGYM_VAR": directory, "FDEGYM_PORT": str(port)}
        subprocess.run([sys.executable, "manage.py", "prepare"], cwd=ROOT, env=environment, check=True)
        supervisor = subprocess.Popen(
            [sys.executable, "ops/supervisor.py"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL
        )
        address = f"http://127.0.0.1:{port}"
        try:
            deadline = time.monotonic() + READY_PATIENCE_S
            while True:
                try:
                    urllib.request.urlopen(f"{address}/health/", timeout=2).close()
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.2)
            yield address, Path(directory), supervisor.pid
        finally:
            supervisor.send_signal(signal.SIGTERM)
            supervisor.wait(30)


def resident_mb(root: int) -> dict[str, float]:
    """Resident memory of a process and all below it, by what they are, in MB (shared pages counted once per process)."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents.setdefault(int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]), []).append(
                    int(entry.name)
                )
            except (OSError, ValueError, IndexError):
                continue
    found: dict[str, float] = {}
    waiting = [root]
    while waiting:
        process = waiting.pop()
        waiting += parents.get(process, [])
        try:
            command = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            status = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        size = re.search(r"^Pss:\s+(\d+)", status, re.MULTILINE)
        names = {
            "uvicorn": "site",
            "celery": "worker",
            " desk": "desk",
            "workspaces.keeper": "keeper",
            "supervisor": "supervisor",
        }
        name = next((name for mark, name in names.items() if mark in command), "workspaces")
        found[name] = found.get(name, 0.0) + (int(size.group(1)) / 1024 if size else 0.0)
    return found
