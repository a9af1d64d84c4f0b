"""Desk and keeper for a command that runs while the site does not: the same two processes, for as long as it lasts."""

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


def _start(argv: list[str], log: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": f"{settings.ROOT}:{settings.ROOT / 'platform'}"}
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
    """Desk and keeper answer inside this block: those of the running site if it runs, else our own, ended afterwards."""
    logs = Path(settings.VAR) / "logs"
    logs.mkdir(exist_ok=True)
    keeper = Path(settings.KEEPER_SOCKET)
    desk = Path(settings.DESK_DIR) / "site.sock"
    wanted = {
        keeper: ["-m", "workspaces.keeper", "--state-dir", str(settings.SANDBOX_DIR), "--socket", str(keeper)],
        desk: [str(settings.ROOT / "manage.py"), "desk"],
    }
    started: list[subprocess.Popen[bytes]] = []
    try:
        for path, argv in wanted.items():
            if not _answers(path):
                started.append(_start(argv, logs / f"{path.stem}-of-command.log"))
        deadline = time.monotonic() + START_PATIENCE_S
        while not all(_answers(path) for path in wanted):
            if any(process.poll() is not None for process in started) or time.monotonic() > deadline:
                raise ServiceUnavailable(f"Desk or keeper did not start; their logs are in {logs}.")
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
