"""The site's processes behind one port: how they are started, and how they leave."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from fdegym import serve
from tests.e2e.stack import clean_environment, free_port
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]

#: A site whose pages take until they are let go, and whose sockets say nothing: what a drain has to deal with.
SLOW_SITE = """
import asyncio, os, pathlib
async def application(scope, receive, send):
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await receive()
        return
    place = pathlib.Path(os.environ["SLOW_SITE"])
    if scope["path"] == "/slow":
        (place / "begun").touch()
        while not (place / "let-go").exists():
            await asyncio.sleep(0.02)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(os.getpid()).encode()})
def one_of_several():
    from fdegym.serve import end_with_the_one_above
    end_with_the_one_above()
    return application
"""


@pytest.fixture
def slow_site(tmp_path: Path) -> Iterator[Any]:
    """``slow_site(processes)`` serves the slow site exactly as the product is served; gives process and port."""
    (tmp_path / "slow_site.py").write_text(SLOW_SITE)
    started: list[subprocess.Popen[bytes]] = []

    def start(settings: Any, processes: int) -> tuple[subprocess.Popen[bytes], int]:
        port = free_port()
        environment = dataclasses.replace(settings.ENVIRONMENT, port=port, site_processes=processes, drain_s=60)
        served = {
            "fdegym.asgi:application": "slow_site:application",
            "fdegym.serve:one_of_several": "slow_site:one_of_several",
        }
        line = [served.get(part, part) for part in serve.command(environment)]
        process = subprocess.Popen(
            [sys.executable, *line],
            env=clean_environment(
                SLOW_SITE=str(tmp_path),
                PYTHONPATH=f"{tmp_path}:{ROOT}:{ROOT / 'platform'}",
                FDEGYM_VAR=str(tmp_path / "var"),
            ),
            start_new_session=True,
        )
        started.append(process)
        until(lambda: page(port, "/") is not None, "the site answers", within_s=60)
        return process, port

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(20)


def page(port: int, path: str) -> str | None:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60) as reply:
            return str(reply.read().decode())
    except OSError:
        return None


@pytest.mark.parametrize("processes", [1, 3])
def test_a_site_told_to_stop_answers_what_was_asked_and_sends_sockets_back_later(
    settings: Any, slow_site: Any, tmp_path: Path, processes: int
) -> None:
    """FC-41: the request in the middle is answered, the socket closes with "service restart", the port is free."""
    process, port = slow_site(settings, processes)
    answers: list[str | None] = []
    asking = threading.Thread(target=lambda: answers.append(page(port, "/slow")))
    with connect(f"ws://127.0.0.1:{port}/", origin=None) as line:
        asking.start()
        until(lambda: (tmp_path / "begun").exists(), "the slow page is being made")
        process.send_signal(signal.SIGTERM)
        with pytest.raises(ConnectionClosed) as closed:
            line.recv(timeout=60)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012
    assert answers == [], "the page was given up"
    (tmp_path / "let-go").touch()
    asking.join(60)
    assert answers != [None]
    assert process.wait(60) in (0, -signal.SIGTERM)
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_several_processes_are_replaced_one_by_one_while_pages_are_answered(settings: Any, slow_site: Any) -> None:
    process, port = slow_site(settings, 2)
    before = children_of(process.pid)
    assert len(before) == 2
    process.send_signal(signal.SIGHUP)
    answers = []

    def all_new() -> bool:
        answers.append(page(port, "/"))
        now = children_of(process.pid)
        return len(now) == 2 and not now & before

    until(all_new, "both processes are new", within_s=60)
    assert None not in answers, "nobody answered for a moment"


def test_processes_of_a_killed_site_do_not_hold_its_port(settings: Any, slow_site: Any) -> None:
    process, port = slow_site(settings, 2)
    process.kill()
    process.wait(20)
    until(lambda: page(port, "/") is None, "its processes are gone")


def children_of(parent: int) -> set[int]:
    """Serving processes below it: those that answer, not the one that watches over semaphores."""
    found = set()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            above = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if above == parent and b"spawn_main" in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
    return found


def test_forwarding_headers_are_believed_of_named_proxies_alone(settings: Any) -> None:
    alone = serve.command(dataclasses.replace(settings.ENVIRONMENT, proxies=()))
    assert "--no-proxy-headers" in alone
    behind = serve.command(dataclasses.replace(settings.ENVIRONMENT, proxies=("10.0.0.1", "fd00::/8")))
    assert behind[behind.index("--forwarded-allow-ips") + 1] == "10.0.0.1,fd00::/8"
