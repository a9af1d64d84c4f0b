"""The arena: a host full of secrets, an attacker's sandbox, and a neighbour's, once for each runtime and file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.isolation.ground import Ground
from tests.isolation.programs.attempt import Facts
from tests.isolation.sandboxes import spec
from tests.workspaces.inside import read_terminal, shell
from tests.workspaces.runtimes import RUNTIMES, runtime_of_a_file
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.sandbox import LaunchedSandbox

FOLDERS = ("/tmp", "/dev/shm", "/home/engineer", "/workspace/system", "/workspace/deliverables")
#: Listens on its loopback and at an abstract name, says at which port, and then waits; its secret is its argument.
SERVER = """
import socket, sys, time
name, secret = sys.argv[1:]
abstract, tcp = socket.socket(socket.AF_UNIX), socket.socket()
abstract.bind(chr(0) + name)
tcp.bind(("127.0.0.1", 0))
for listening in (abstract, tcp):
    listening.listen()
with open("/tmp/port", "w") as file:
    file.write(str(tcp.getsockname()[1]))
time.sleep(1_000_000)
"""


@dataclass(frozen=True)
class Arena:
    """``facts`` is what the attacker knows. A ground of its own, so that whoever reached it did so from in there."""

    ground: Ground
    runtime: LauncherRuntime
    attacker: LaunchedSandbox
    neighbour: LaunchedSandbox
    facts: Facts

    def neighbours_state(self) -> str:
        """Its files and how many processes it has, to be compared."""
        files = [self.neighbour.read(f"{folder}/{self.facts.neighbour_file}", max_bytes=99) for folder in FOLDERS]
        return f"{files} {self.neighbour.usage()['processes']}"


@pytest.fixture(scope="module", params=RUNTIMES)
def runtime(request: pytest.FixtureRequest) -> Iterator[LauncherRuntime]:
    with runtime_of_a_file(request.param) as made:
        yield made


@pytest.fixture(scope="module")
def arena(runtime: LauncherRuntime) -> Iterator[Arena]:
    with Ground() as ground:
        runtime.create("neighbour", spec())
        neighbour = runtime.start("neighbour")
        name = ground.secret[-16:]
        for folder in FOLDERS:
            shell(neighbour, f"echo {ground.secret} > {folder}/{name}.txt")
        neighbour.put("/tmp/server.py", SERVER.encode())
        shell(
            neighbour,
            f"python /tmp/server.py {name} {ground.secret} > /dev/null 2>&1 & until [ -s /tmp/port ]; do sleep 0.05; done",
        )
        launchers = {
            "launcher": str(runtime.state_dir / "attacker" / "control" / "launcher.sock"),
            "neighbours launcher": str(runtime.state_dir / "neighbour" / "control" / "launcher.sock"),
        }
        facts = ground.facts_inside(
            sockets={**ground.facts.sockets, **launchers},
            neighbour_port=int(shell(neighbour, "cat /tmp/port")),
            neighbour_abstract=name,
            neighbour_file=f"{name}.txt",
        )
        master, _ = neighbour.open_terminal(columns=80, rows=24)
        try:
            read_terminal(master, b"$ ")
            yield Arena(ground, runtime, started_carelessly(runtime, ground), neighbour, facts)
        finally:
            os.close(master)


def started_carelessly(runtime: LauncherRuntime, ground: Ground) -> LaunchedSandbox:
    """With a secret in its maker's environment and an open file at hand, neither of which may come through."""
    os.set_inheritable(ground.left_open, True)
    os.environ["SECRET_OF_THE_HOST"] = ground.secret
    try:
        runtime.create("attacker", spec(ground, hostname="depot.example.org", environment={"GIVEN": "yes"}))
        return runtime.start("attacker")
    finally:
        os.set_inheritable(ground.left_open, False)
        del os.environ["SECRET_OF_THE_HOST"]
