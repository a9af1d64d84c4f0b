"""Nothing of a sandbox outlives the step, the stop or the destruction that ends it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import pytest

from tests.isolation.programs.surviving import SURVIVALS, Survival
from tests.isolation.sandboxes import ATTACK, spec
from tests.waiting import until
from workspaces.runtime.base import CallLimits, SandboxState
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.sandbox import LaunchedSandbox

pytestmark = pytest.mark.sandbox
ALIVE = "/workspace/system/alive"
#: Started by the sandbox's own Python, by shells, or by the loader, if any of it is taken up where PID 1 starts.
PLANTED = {
    "/workspace/system/sitecustomize.py": "open('/workspace/system/taken-up', 'w')",
    "/home/engineer/.local/lib/python3.11/site-packages/usercustomize.py": "open('/workspace/system/taken-up', 'w')",
    "/home/engineer/.local/lib/python3.11/site-packages/planted.pth": "import os; open('/workspace/system/taken-up', 'w')",
    "/home/engineer/.profile": "touch /workspace/system/taken-up",
    "/home/engineer/.bashrc": "touch /workspace/system/taken-up",
    "/home/engineer/bin/python3": "#!/bin/sh\ntouch /workspace/system/taken-up",
    "/workspace/system/json.py": "open('/workspace/system/taken-up', 'w')",
    "/workspace/system/fdegym_launcher/__init__.py": "open('/workspace/system/taken-up', 'w')",
}


@pytest.fixture(scope="module")
def sandbox(runtime: LauncherRuntime) -> LaunchedSandbox:
    runtime.create("survived", spec())
    return runtime.start("survived")


@pytest.fixture
def token() -> str:
    return secrets.token_hex(16)


def left_of(token: str) -> list[int]:
    """Processes of this host, whoever's, that have the token in their command line."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and int(path.name) != os.getpid():
            try:
                said = (path / "cmdline").read_bytes()
            except OSError:
                continue
            if token.encode() in said:
                found.append(int(path.name))
    return found


def appeared(sandbox: LaunchedSandbox, name: str) -> bool:
    return name in {entry["name"] for entry in sandbox.listing("/workspace/system")}


@pytest.mark.parametrize("way", SURVIVALS.values(), ids=list(SURVIVALS))
def test_nothing_outlives_a_step(sandbox: LaunchedSandbox, token: str, way: Survival) -> None:
    """FC-91, FC-95: or it would answer for the next step."""
    argv = ["python", "-m", "tests.isolation.programs.surviving", way.name, token]
    ended = sandbox.step(argv, limits=CallLimits(), working_directory=ATTACK)
    assert ended.failure is None, ended.stderr.decode()
    assert sandbox.usage()["processes"] == 0
    assert left_of(token) == []


def leave_behind_in_every_way(sandbox: LaunchedSandbox, token: str) -> None:
    """And see it from outside, or its absence later would show nothing."""
    for name in SURVIVALS:
        sandbox.exec(["python", "-m", "tests.isolation.programs.surviving", name, token], working_directory=ATTACK)
    until(lambda: left_of(token), "a survivor is seen from outside")
    until(lambda: appeared(sandbox, "alive"), "it does its work")


def test_nothing_outlives_a_stop(runtime: LauncherRuntime, sandbox: LaunchedSandbox, token: str) -> None:
    """FC-57."""
    leave_behind_in_every_way(sandbox, token)
    runtime.stop("survived")
    assert left_of(token) == []
    assert runtime.start("survived").usage()["processes"] == 0


def test_nothing_that_was_planted_is_taken_up_at_the_next_start(
    runtime: LauncherRuntime, sandbox: LaunchedSandbox
) -> None:
    """FC-95."""
    runtime.start("survived")
    for path, text in PLANTED.items():
        sandbox.put(path, text.encode(), mode=0o755)
    runtime.stop("survived")
    again = runtime.start("survived")
    assert not appeared(again, "taken-up")
    again.exec(["python3", "-c", ""])
    assert appeared(again, "taken-up"), "by a Python of its own, which may"


def test_nothing_is_left_of_a_sandbox_that_is_destroyed(
    runtime: LauncherRuntime, sandbox: LaunchedSandbox, token: str
) -> None:
    runtime.start("survived")
    leave_behind_in_every_way(sandbox, token)
    runtime.destroy("survived")
    assert left_of(token) == []
    assert left_of(str(runtime.state_dir / "survived")) == [], "of what started it"
    assert runtime.state("survived") is SandboxState.GONE
    assert not (runtime.state_dir / "survived").exists()
    assert str(runtime.state_dir / "survived") not in Path("/proc/self/mountinfo").read_text()
