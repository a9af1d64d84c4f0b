"""The attacker's sandbox and the neighbour's, and how an attempt is made in them or on the host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tests.isolation.ground import ROOT, Ground
from tests.isolation.programs.__main__ import outcome
from tests.isolation.programs.attempt import Facts
from workspaces.runtime.base import CallLimits, Limits, Mount, SandboxSpec
from workspaces.runtime.sandbox import LaunchedSandbox

PROGRAMS = Path(__file__).parent / "programs"
ATTACK = "/workspace/attack"
ENVIRONMENT = {"PYTHONPYCACHEPREFIX": "/tmp/pyc"}
AS_ROOT_OF_A_NAMESPACE = [
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "--net",
    "--uts",
    "--ipc",
    "--pid",
    "--fork",
]


@dataclass(frozen=True)
class Ending:
    """How an attempt ended: what it got, by which errors it was refused, and all that it printed."""

    got: str | None
    refused: frozenset[str]
    printed: str


def spec(ground: Ground | None = None, limits: Limits | None = None, **fields: Any) -> SandboxSpec:
    """A sandbox that has the attacker's programs, and of the ground what a workspace has of a host."""
    mounts = [Mount(PROGRAMS, f"{ATTACK}/tests/isolation/programs")]
    if ground is not None:
        mounts += [Mount(ground.shown, "/workspace/shown"), Mount(ground.own_gateway, "/run/gateway")]
    environment = {**ENVIRONMENT, **fields.pop("environment", {})}
    return SandboxSpec(mounts=tuple(mounts), limits=limits or Limits(), environment=environment, **fields)


def command(name: str, facts: Facts) -> list[str]:
    return ["-m", "tests.isolation.programs", name, json.dumps(asdict(facts))]


def ending(said: bytes, errors: bytes) -> Ending:
    """An attempt that broke instead of being refused shows nothing: it fails the test."""
    lines = said.decode(errors="replace").splitlines()
    assert lines, errors.decode(errors="replace")
    told = json.loads(lines[-1])
    return Ending(told["got"], frozenset(told["refused"]), (said + errors).decode(errors="replace"))


def attempt_inside(sandbox: LaunchedSandbox, name: str, facts: Facts) -> Ending:
    """By a step, as grading runs what was delivered."""
    done = sandbox.step(["python", *command(name, facts)], limits=CallLimits(), working_directory=ATTACK)
    return ending(done.stdout, done.stderr)


def attempt_by_a_command(sandbox: LaunchedSandbox, name: str, facts: Facts) -> Ending:
    """Beside whatever else runs in that sandbox."""
    done = sandbox.exec(["python", *command(name, facts)], working_directory=ATTACK)
    return ending(done.stdout, done.stderr)


def attempt_on_the_host(name: str, facts: Facts) -> Ending:
    """In a fork of this process."""
    out, into = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(into, json.dumps(outcome(name, facts)).encode())
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as file:
        said = file.read()
    os.waitpid(pid, 0)
    return ending(said, b"the attempt broke")


def attempt_as_root_of_a_namespace(name: str, facts: Facts) -> Ending:
    """On the host, in namespaces of the attempt's own."""
    done = subprocess.run(
        [*AS_ROOT_OF_A_NAMESPACE, sys.executable, "-S", *command(name, facts)],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    return ending(done.stdout, done.stderr)
