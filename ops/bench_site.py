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
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
READY_PATIENCE_S = 180.0

#: Workspaces outlive the site on purpose; those of the bench end with it.
END_WORKSPACES = """
from fdegym.runs.models import Run
from workspaces.services import destroy_workspace
for run_id in Run.objects.values_list("pk", flat=True):
    destroy_workspace(str(run_id))
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Visitor:
    """A browser without a screen: cookies, forms with their CSRF tokens, JSON."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.run = ""
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
        while True:
            try:
                self.post("/account/sign-up/", {"username": name, "password1": password, "password2": password})
                return
            except urllib.error.HTTPError as refused:
                if refused.code != 429:
                    raise
                time.sleep(5)  # so many accounts from one address are for the bench alone

    def begin(self, scenario: str, level: str = "L3") -> str:
        """Begin a run and wait until its workspace is open; the run's id."""
        address = self.post(f"/scenarios/{scenario}/begin/", {"level": level}, page=f"/scenarios/{scenario}/")
        run = re.search(r"/runs/([0-9a-f-]{36})/", address)
        if run is None:
            raise RuntimeError(f"the site led to {address} instead of a run")
        while json.loads(self.get(f"/runs/{run.group(1)}/state/"))["state"] == "preparing":
            time.sleep(0.02)
        self.run = run.group(1)
        return self.run

    def say(self, person: str, text: str) -> dict[str, Any]:
        """Write to somebody at the customer; the answer with the reply."""
        body = {"person": person, "text": text, "id": os.urandom(8).hex()}
        return self.post_json(f"/runs/{self.run}/messages/", body)

    def submit(self) -> None:
        """Hand in the run and wait for its debrief."""
        self.post_json(f"/runs/{self.run}/submit/", {})
        while True:
            with self.opener.open(f"{self.address}/runs/{self.run}/grading/", timeout=60) as reply:
                if "/debrief/" in reply.url:
                    return
            time.sleep(0.2)

    def terminal(self, number: int) -> str:
        """A WebSocket address with a fresh ticket, of the run begun last."""
        ticket = self.post_json(f"/runs/{self.run}/terminals/ticket/", {"terminal": number})
        return self.address.replace("http", "ws", 1) + str(ticket["url"])


@contextmanager
def running_site() -> Iterator[tuple[str, Processes]]:
    """(address, processes) of a fresh site, ended and removed afterwards."""
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
            yield address, Processes(supervisor.pid)
        finally:
            subprocess.run(
                [sys.executable, "manage.py", "shell", "-c", END_WORKSPACES], cwd=ROOT, env=environment, check=False
            )
            supervisor.send_signal(signal.SIGTERM)
            supervisor.wait(30)


#: What a process of the supervisor is, by a part of its command line.
KINDS = {
    "uvicorn": "site",
    "celery": "worker",
    " desk": "desk",
    "workspaces.keeper": "keeper",
    "supervisor": "supervisor",
}


class Processes:
    """The supervisor's process and all below it, read from /proc."""

    def __init__(self, root: int) -> None:
        self.root = root

    def _below(self) -> Iterator[tuple[int, str]]:
        """(process id, what it is) of each; whatever is none of the product's services belongs to workspaces."""
        parents: dict[int, list[int]] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with suppress(OSError, ValueError, IndexError):
                    parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
                    parents.setdefault(parent, []).append(int(entry.name))
        waiting = [self.root]
        while waiting:
            process = waiting.pop()
            waiting += parents.get(process, [])
            with suppress(OSError):
                command = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                yield process, next((name for mark, name in KINDS.items() if mark in command), "workspaces")

    def named(self, name: str) -> list[int]:
        return [process for process, kind in self._below() if kind == name]

    def memory_by_kind_mb(self) -> dict[str, float]:
        """Proportional set sizes: what processes share is counted once."""
        found: dict[str, float] = {}
        for process, kind in self._below():
            with suppress(OSError):
                size = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text(), re.MULTILINE)
                found[kind] = found.get(kind, 0.0) + (int(size.group(1)) / 1024 if size else 0.0)
        return found

    def memory_mb(self, *kinds: str) -> float:
        found = self.memory_by_kind_mb()
        return sum(found.get(kind, 0.0) for kind in kinds)

    @staticmethod
    def cpu_s(processes: list[int]) -> float:
        """CPU time of processes so far, to the nanosecond."""
        spent = 0
        for process in processes:
            for task in Path(f"/proc/{process}/task").iterdir():
                spent += int((task / "schedstat").read_text().split()[0])
        return spent / 1e9
