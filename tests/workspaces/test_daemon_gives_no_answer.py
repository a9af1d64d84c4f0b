"""A Docker daemon that gives no answer, or none in time, is the host's failure: no start counts as failed by it."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from workspaces.runtime import docker
from workspaces.runtime.base import SandboxSpec, SandboxState
from workspaces.runtime.docker import DockerRuntime
from workspaces.runtime.errors import RuntimeUnusable, SandboxError, SandboxStartFailed


class Daemon(socketserver.ThreadingUnixStreamServer):
    """Knows no container, and to the wish for one does what ``manner`` says."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, path: Path, manner: str) -> None:
        self.manner = manner
        self.over = threading.Event()
        super().__init__(str(path), Answers)


class Answers(BaseHTTPRequestHandler):
    server: Daemon

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.server.manner == "is silent":
            self.server.over.wait()
        elif self.server.manner == "refuses":
            self._say(500, "no such image")

    def do_GET(self) -> None:
        self._say(404, "no such container")

    def do_DELETE(self) -> None:
        self._say(404, "no such container")

    def _say(self, status: int, message: str) -> None:
        body = json.dumps({"message": message}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None: ...


@pytest.fixture
def daemon(state_dir: Path, request: pytest.FixtureRequest) -> Iterator[Daemon]:
    made = Daemon(state_dir / "docker.sock", request.param)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.over.set()
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.mark.parametrize(
    ("daemon", "raised"),
    [("is silent", RuntimeUnusable), ("hangs up", RuntimeUnusable), ("refuses", SandboxStartFailed)],
    indirect=["daemon"],
)
def test_what_a_daemon_does_not_answer_is_no_failure_of_the_sandbox_and_what_it_refuses_is(
    daemon: Daemon, raised: type[SandboxError], state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FC-69, FC-93."""
    if daemon.manner == "is silent":
        monkeypatch.setattr(docker, "CALL_TIMEOUT_S", 0.5)
    runtime = DockerRuntime(state_dir / "s", image="any", daemon=f"unix://{daemon.server_address}")
    runtime.create("one", SandboxSpec())
    with pytest.raises(SandboxError) as caught:
        runtime.start("one")
    assert type(caught.value) is raised
    assert runtime.state("one") is not SandboxState.RUNNING
