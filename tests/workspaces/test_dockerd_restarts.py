"""Docker's daemon is killed and started again under people's hands (``live-restore``): terminals go on, starts wait.

Run by root alone, who can start a daemon: one of the test's own, to which the image of workspaces is copied.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from docker.api.client import APIClient
from keeper_process import KeeperProcess

from fdegym.lib.errors import ServiceUnavailable
from ops.docker_for_tests import daemon_command
from tests.waiting import until as wait_until
from tests.workspaces.attached import attach, until
from tests.workspaces.runtimes import DAEMON, IMAGE, docker_is_ready, unusable
from workspaces import services
from workspaces.materials import WorkspaceMaterials
from workspaces.places import Why
from workspaces.runtime.docker import API_VERSION, LABEL

pytestmark = pytest.mark.sandbox
DATA = Path("/var/lib/fdegym/docker-that-restarts")  #: kept: a second run finds the image there


class Daemon:
    """A Docker daemon of the test's own, that can be killed as a crash or an upgrade does it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.address = f"unix://{directory}/docker.sock"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with (self.directory / "log").open("ab") as log:
            command = daemon_command(self.directory, DATA, gid=os.getgid())
            self.process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        wait_until(self._answers, lambda: (self.directory / "log").read_text()[-2000:], within_s=90)

    def _answers(self) -> bool:
        with contextlib.suppress(Exception), self.client() as client:
            return bool(client.ping())
        return False

    @contextlib.contextmanager
    def client(self) -> Iterator[Any]:
        client = APIClient(base_url=self.address, version=API_VERSION, timeout=60)
        try:
            yield client
        finally:
            client.close()

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        (self.directory / "pid").unlink(missing_ok=True)  # a daemon that comes back may meet another process's number

    def end(self) -> None:
        """With all that is left in it."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        assert self.process is not None
        with self.client() as client:
            for row in client.containers(all=True):
                client.remove_container(row["Id"], force=True)
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


@pytest.fixture(scope="module")
def daemon() -> Iterator[Daemon]:
    if shutil.which("dockerd") is None:
        unusable("needs docker.io")
    docker_is_ready()
    directory = Path(tempfile.mkdtemp(prefix="fdegym-restarts-", dir="/run"))
    DATA.mkdir(parents=True, exist_ok=True)
    made = Daemon(directory)
    made.start()
    try:
        with made.client() as client:
            if not client.images(name=IMAGE):
                with APIClient(base_url=os.environ[DAEMON], version=API_VERSION, timeout=300) as source:
                    client.load_image(source.get_image(IMAGE))
        yield made
    finally:
        made.end()
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def keeper(daemon: Daemon, state_dir: Path, settings: Any) -> Iterator[KeeperProcess]:
    state_dir.chmod(0o711)  # the users of containers walk through it
    process = KeeperProcess(state_dir, FDEGYM_RUNTIME="docker", FDEGYM_DOCKER=daemon.address)
    process.start()
    settings.KEEPER_SOCKET = process.socket
    yield process
    process.end()


async def test_terminals_go_on_without_the_daemon_and_what_was_to_start_starts_when_it_is_back(
    daemon: Daemon, keeper: KeeperProcess, open_run: Callable[[], str], materials: WorkspaceMaterials
) -> None:
    """FC-62, FC-69."""
    works, goes = await asyncio.to_thread(open_run), await asyncio.to_thread(open_run)
    comes = str(uuid.uuid4())
    terminal = await attach(keeper, works)
    await terminal.type(b"echo bef''ore $$\n")
    await until(terminal, b"before")

    await asyncio.to_thread(daemon.kill)
    await terminal.type(b"echo with''out\n")
    await until(terminal, b"without")
    another = await attach(keeper, works, 2)
    await another.type(b"echo opened''\n")
    await until(another, b"opened")
    await asyncio.to_thread(services.put_file, works, "/workspace/system/new.py", b"1\n")
    place = await asyncio.to_thread(services.ask_for_workspace, comes, materials)
    assert place is not None
    await asyncio.to_thread(wait_until, lambda: waits(comes) is Why.HOST, lambda: f"it waits: {waits(comes)}")
    with pytest.raises(ServiceUnavailable, match="Docker does not answer"):
        await asyncio.to_thread(services.destroy_workspace, goes)
    keeper.end()
    await asyncio.to_thread(keeper.start)  # a keeper comes back without the daemon too
    again = await attach(keeper, works)
    await again.type(b"echo a''gain\n")
    await until(again, b"again")
    await asyncio.to_thread(services.ask_for_workspace, comes, materials)

    await asyncio.to_thread(daemon.start)
    running = lambda: services.workspace_state(comes) == "running"  # noqa: E731
    await asyncio.to_thread(wait_until, running, lambda: f"it opens by itself: {waits(comes)}")
    await again.type(b"cat /workspace/system/new.py; echo af''ter\n")
    await until(again, b"after")
    assert await asyncio.to_thread(services.reconcile, [works, comes], grace_s=0) == [goes]
    with daemon.client() as client:
        known = {row["Labels"][f"{LABEL}.sandbox"] for row in client.containers(all=True)}
        assert known == {works, comes}, "nothing is orphaned"
        for run_id in (works, comes):
            await asyncio.to_thread(services.destroy_workspace, run_id)
        assert client.containers(all=True) == []


def waits(run_id: str) -> Why | None:
    place = services.place_in_queue(run_id)
    return None if place is None else place.why
