"""How the tests of a runtime look into a sandbox."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from typing import Any

from workspaces.runtime.sandbox import LaunchedSandbox

#: ``start("name", spec)``: a sandbox that runs.
Start = Callable[..., LaunchedSandbox]


def shell(sandbox: LaunchedSandbox, command: str, timeout_s: float = 30) -> str:
    """Output of a shell command inside, both streams."""
    result = sandbox.exec(["bash", "-c", command + " 2>&1"], timeout_s=timeout_s)
    return result.stdout.decode(errors="replace")


def python(sandbox: LaunchedSandbox, code: str) -> str:
    """Output of a Python program inside; what it prints as errors fails the test."""
    result = sandbox.exec(["python", "-c", code])
    assert not result.stderr, result.stderr.decode(errors="replace")
    return result.stdout.decode(errors="replace")


def told(sandbox: LaunchedSandbox, code: str) -> Any:
    """What a program inside prints as JSON."""
    return json.loads(python(sandbox, code))


def nobody_sleeps(sandbox: LaunchedSandbox, within_s: float = 60) -> bool:
    """Whether the last ``sleep`` inside has ended, soon or late."""
    deadline = time.monotonic() + within_s
    while shell(sandbox, "pgrep -c sleep") != "0\n":
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def read_terminal(master: int, mark: bytes, timeout_s: float = 30) -> bytes:
    """What a terminal prints until this appears in it, or until nothing more can come."""
    os.set_blocking(master, False)
    seen, deadline = b"", time.monotonic() + timeout_s
    while mark not in seen and time.monotonic() < deadline:
        try:
            seen += os.read(master, 65536)
        except BlockingIOError:
            time.sleep(0.01)
        except OSError:
            break
    return seen
