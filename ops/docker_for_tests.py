"""A Docker daemon of the tests' own, started by root and used by the tests' user; its image of workspaces is built once.

    with docker_for_tests(gid) as variables: ...   # the environment that tests find it by

Standard library only. Its networks and firewall rules are switched off: no workspace has a network. What it keeps lies in
``/var/lib/fdegym/docker``, so that a second run finds the image there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

DATA = Path("/var/lib/fdegym/docker")
ADDRESS, READY = "DOCKER_FOR_TESTS", "DOCKER_FOR_TESTS_READY"
BUILD = Path(__file__).parent / "workspace-image" / "build"
PATIENCE_S = 90.0


def daemon_command(directory: Path, data: Path, gid: int) -> list[str]:
    """A daemon for a group whose socket is ``docker.sock`` in a directory, and whose containers live on without it."""
    command = ["dockerd", "--data-root", str(data), "--exec-root", f"{directory}/exec", "--pidfile", f"{directory}/pid"]
    command += ["--host", f"unix://{directory}/docker.sock", "--group", str(gid), "--live-restore"]
    return [*command, "--iptables=false", "--ip6tables=false", "--bridge=none", "--ip-forward=false"]


@contextlib.contextmanager
def docker_for_tests(gid: int) -> Iterator[dict[str, str]]:
    """Start the daemon for a group; yield at once while the image is built beside. Nothing where there is no Docker.

    The file that ``READY`` names appears when tests may begin; it is empty, or says why there will be no Docker.
    """
    if shutil.which("dockerd") is None or os.geteuid() != 0:
        yield {}
        return
    directory = Path(tempfile.mkdtemp(prefix="fdegym-docker-", dir="/run"))
    directory.chmod(0o755)
    socket, ready = directory / "docker.sock", directory / "ready"
    DATA.mkdir(parents=True, exist_ok=True)
    with (directory / "log").open("wb") as log:
        command = daemon_command(directory, DATA, gid)
        daemon = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
    building = threading.Thread(target=_prepare, args=(daemon, socket, ready, directory / "log"), daemon=True)
    building.start()
    try:
        yield {ADDRESS: f"unix://{socket}", READY: str(ready)}
    finally:
        building.join()
        _end(daemon, socket)
        shutil.rmtree(directory, ignore_errors=True)


def _prepare(daemon: subprocess.Popen[bytes], socket: Path, ready: Path, log: Path) -> None:
    environment = {**os.environ, "DOCKER_HOST": f"unix://{socket}"}
    deadline, said = time.monotonic() + PATIENCE_S, ""
    while (
        not said and subprocess.run(["docker", "version"], env=environment, capture_output=True, check=False).returncode
    ):
        if daemon.poll() is not None or time.monotonic() > deadline:
            said = "the Docker daemon does not start: " + log.read_text(errors="replace").strip()[-600:]
        time.sleep(0.2)
    if not said:
        built = subprocess.run([str(BUILD), "--offline"], env=environment, capture_output=True, text=True, check=False)
        if built.returncode:
            said = f"the image of workspaces cannot be built: {(built.stdout + built.stderr).strip()[-600:]}"
    making = ready.with_suffix(".new")
    making.write_text(said)
    making.replace(ready)


def _end(daemon: subprocess.Popen[bytes], socket: Path) -> None:
    """With every container that tests left: the daemon lets them live on when it ends."""
    environment = {**os.environ, "DOCKER_HOST": f"unix://{socket}"}
    listed = subprocess.run(["docker", "ps", "-aq"], env=environment, capture_output=True, text=True, check=False)
    if listed.stdout.split():
        subprocess.run(
            ["docker", "rm", "-f", *listed.stdout.split()], env=environment, capture_output=True, check=False
        )
    daemon.terminate()
    try:
        daemon.wait(30)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
