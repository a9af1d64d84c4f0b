"""How the tests of a runtime look into a sandbox."""

from __future__ import annotations

from collections.abc import Callable

from workspaces.runtime.sandbox import LaunchedSandbox

#: ``start("name", spec)``: a sandbox that runs.
Start = Callable[..., LaunchedSandbox]


def shell(sandbox: LaunchedSandbox, command: str, timeout_s: float = 30) -> str:
    """Output of a shell command inside, both streams."""
    result = sandbox.exec(["bash", "-c", command + " 2>&1"], timeout_s=timeout_s)
    return result.stdout.decode(errors="replace")
