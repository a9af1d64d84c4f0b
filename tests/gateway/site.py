"""A site of its own with open runs, whose gateway is the real process and can be killed. As a program it makes that site."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
TINY = ROOT / "tests" / "grading" / "scenario_tiny"
KEY = "sk-a-key-that-nobody-may-see"
TOKENS = 20_000


def write_stall(directory: Path, allowance: str) -> Path:
    """The market stall of the grading tests with a gateway, below ``directory``."""
    folder = directory / TINY.name
    shutil.copytree(TINY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    config = folder / "scenario.toml"
    config.write_text(config.read_text() + f"\n[gateway]\n{allowance}\n")
    shutil.copy(ROOT / "scenarios" / "kit" / "system" / "gateway.py", folder / "system" / "shop" / "gateway.py")
    return folder


class Client:
    """One HTTP client over a unix socket."""

    def __init__(self, path: Path, timeout_s: float = 60.0) -> None:
        self.path, self.timeout_s = path, timeout_s

    def connect(self) -> socket.socket:
        connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connected.settimeout(self.timeout_s)
        try:
            connected.connect(str(self.path))
        except OSError:
            connected.close()
            raise
        return connected

    def raw(self, path: str, body: Any) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("gateway")
        connection.sock = self.connect()
        data = None if body is None else json.dumps(body).encode()
        connection.request("GET" if body is None else "POST", path, data)
        response = connection.getresponse()
        found = response.status, response.read()
        connection.close()
        return found

    def get(self, path: str) -> tuple[int, Any]:
        status, data = self.raw(path, None)
        return status, json.loads(data)

    def chat(self, text: str, **further: Any) -> tuple[int, Any]:
        status, data = self.raw("/v1/chat/completions", request(text, **further))
        return status, json.loads(data)

    def said(self, text: str, **further: Any) -> str:
        """The answer's text, or the code of what went wrong."""
        status, body = self.chat(text, **further)
        return str(body["choices"][0]["message"]["content"] if status == 200 else body["error"]["code"])


def request(text: str, **further: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 100, **further}


class Site:
    """``runs`` are open; with none there is no database either. ``environment`` may be changed before a start."""

    def __init__(
        self, runs: int = 1, allowance: str = f"run_tokens = {TOKENS}\ncalls_per_step = 3", **further: str
    ) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="gw"))
        self.directory, self.log = self.root / "s" / "gateway", self.root / "gateway.log"
        self.environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
            "DJANGO_SETTINGS_MODULE": "fdegym.settings",
            "PYTHONDONTWRITEBYTECODE": "1",
            "FDEGYM_VAR": str(self.root),
            "FDEGYM_SOCKETS": str(self.root / "s"),
            "SCENARIO_DIRS": str(self.root / "scenarios"),
            "FDEGYM_SECRET_KEY": "k" * 60,
            "FDEGYM_GATEWAY_MODELS": "small=0.15/0.6,large=2.5/10",
            **further,
        }
        (self.root / "scenarios").mkdir()
        write_stall(self.root / "scenarios", allowance)
        self.runs = self._made(runs) if runs else []
        for run in self.runs:
            (self.directory / run).mkdir(parents=True, mode=0o711)
        self.directory.mkdir(parents=True, exist_ok=True)
        for private in (self.root, self.root / "s"):
            private.chmod(0o700)
        self.process: subprocess.Popen[bytes] | None = None

    def _made(self, runs: int) -> list[str]:
        command = [sys.executable, __file__, str(runs)]
        made = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stderr
        return made.stdout.split()

    def use(self, url: str) -> None:
        """The provider at this address, with a key in a file."""
        file = self.root / "key"
        file.write_text(KEY + "\n")
        file.chmod(0o600)
        chosen = {"FDEGYM_GATEWAY": "openai", "FDEGYM_GATEWAY_URL": url, "FDEGYM_GATEWAY_KEY_FILE": str(file)}
        self.environment |= chosen

    def command(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            argv = [sys.executable, str(ROOT / "manage.py"), "gateway"]
            return subprocess.Popen(argv, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def start(self) -> None:
        self.process = self.command()
        until(self.answers, lambda: self.log.read_text(), within_s=60)

    def answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, f"it ended: {self.log.read_text()}"
        try:
            return all(self.client(number).get("/v1/models")[0] == 200 for number in range(len(self.runs)))
        except OSError:
            return False

    def stop(self, number: int = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(30)
            self.process = None

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.root, ignore_errors=True)

    def client(self, number: int = 0) -> Client:
        return Client(self.directory / self.runs[number] / "gateway.sock")

    # ---- what is on record

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.root / "fdegym.sqlite3", timeout=30) as database:
            found = database.execute(query, values).fetchall()
        database.close()
        return found

    def events(self, number: int = 0, kind: str = "gateway.called") -> list[dict[str, Any]]:
        query = "select payload from runs_runevent where run_id = ? and kind = ? order by seq"
        return [json.loads(payload) for (payload,) in self.rows(query, self.runs[number].replace("-", ""), kind)]

    def account(self, name: str) -> dict[str, Any]:
        columns = ("calls", "spent_tokens", "spent_nano", "reserved_tokens", "most_tokens", "refused")
        [row] = self.rows(f"select {', '.join(columns)} from gateway_account where name = ?", name)
        return dict(zip(columns, row, strict=True))

    def everything_written(self) -> bytes:
        """All bytes of all files of the site but the key's own."""
        files = [path for path in self.root.rglob("*") if path.is_file() and path.name != "key"]
        return b"".join(path.read_bytes() for path in files)


def make(runs: int) -> None:
    import django

    django.setup()
    from django.core.management import call_command

    from fdegym.catalog.scenarios import get_scenario
    from fdegym.runs import log
    from fdegym.runs.models import Run, RunOrigin, RunState

    call_command("migrate", interactive=False, verbosity=0)
    for _ in range(runs):
        run = Run.objects.create(
            origin=RunOrigin.COMMAND,
            scenario_id=TINY.name,
            task_id="original",
            level="L3",
            release=get_scenario(TINY.name).release,
            attempt=1,
            state=RunState.OPEN,
        )
        log.append(run.id, "run.begun", {"level": "L3"})
        print(run.id)


if __name__ == "__main__":
    make(int(sys.argv[1]))
