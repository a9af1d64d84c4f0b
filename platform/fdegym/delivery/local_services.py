"""Desk, keeper and gateway for a command that runs while the site does not: the same processes, for as long as it lasts."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from fdegym.gateway.key import without_key
from fdegym.gateway.places import CONTROL_NAME, gateway_root
from fdegym.lib.errors import ServiceUnavailable

logger = logging.getLogger(__name__)
START_PATIENCE_S = 60.0


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2)
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def _start(name: str, argv: list[str], log: Path) -> subprocess.Popen[bytes]:
    given = dict(os.environ) if name == "gateway" else without_key(os.environ)
    environment = {**given, "PYTHONPATH": f"{settings.ROOT}:{settings.ROOT / 'platform'}"}
    with log.open("ab") as stream:
        return subprocess.Popen(
            [sys.executable, *argv],
            cwd=settings.ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,  # Ctrl-C is for the command, which then ends these in order
        )


@contextmanager
def local_services() -> Iterator[None]:
    """Desk, keeper and gateway answer inside this block: those of the running site if it runs, else our own, ended
    afterwards. Without a model connected no gateway is started: what is asked of one is answered by nobody."""
    logs = Path(settings.VAR) / "logs"
    logs.mkdir(exist_ok=True)
    keeper = Path(settings.KEEPER_SOCKET)
    manage = str(settings.ROOT / "manage.py")
    keeping = ["-m", "workspaces.keeper", "--state-dir", str(settings.SANDBOX_DIR), "--socket", str(keeper)]
    wanted = {"keeper": (keeper, keeping), "desk": (Path(settings.DESK_DIR) / "site.sock", [manage, "desk"])}
    if settings.GATEWAY.enabled:
        wanted["gateway"] = gateway_root() / CONTROL_NAME, [manage, "gateway"]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for name, (path, argv) in wanted.items():
            if not _answers(path):
                started.append(_start(name, argv, logs / f"{name}-of-command.log"))
        deadline = time.monotonic() + START_PATIENCE_S
        while not all(_answers(path) for path, _ in wanted.values()):
            if any(process.poll() is not None for process in started) or time.monotonic() > deadline:
                raise ServiceUnavailable(f"Desk, keeper or gateway did not start; their logs are in {logs}.")
            time.sleep(0.05)
        yield
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGTERM)
        for process in started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
