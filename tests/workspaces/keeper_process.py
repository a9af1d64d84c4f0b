"""A real keeper for tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from fdegym.lib.errors import ServiceUnavailable
from workspaces.keeper.client import KeeperClient

ROOT = Path(__file__).resolve().parents[2]


class KeeperProcess:
    """A keeper with short times, that can be killed and started again."""

    def __init__(self, directory: Path, *options: str, **environment: str) -> None:
        self.state_dir, self.socket, self.options = directory / "s", directory / "k.sock", options
        self.environment = environment
        self.process: subprocess.Popen[bytes] | None = None
        self.client = KeeperClient(self.socket)

    def start(self) -> None:
        command = [sys.executable, "-m", "workspaces.keeper", "--state-dir", str(self.state_dir)]
        command += ["--socket", str(self.socket), *self.options]
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}", **self.environment}
        log = self.socket.with_suffix(".log").open("ab")
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        log.close()
        pid, deadline = self.process.pid, time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                if self.client.request("ping")[0]["pid"] == pid:
                    return
            except ServiceUnavailable:
                time.sleep(0.05)
        raise AssertionError(self.socket.with_suffix(".log").read_text())

    def end(self, number: int = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(20)
