"""What is done for a workspace by a process inside it can be stopped from inside: nobody else waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from keeper_process import KeeperProcess

from workspaces import services
from workspaces.runtime import layout
from workspaces.runtime.base import SandboxSpec
from workspaces.runtime.errors import SandboxError
from workspaces.runtime.launched import LauncherRuntime

pytestmark = pytest.mark.sandbox

#: Returns to who called it once its child has stopped everything else for the first time.
STOPS_ALL_OTHERS = """
import os, signal
begun, begin = os.pipe()
if os.fork():
    os.close(begin)
    os._exit(os.read(begun, 1) != b".")
os.setsid()
mine = {1, os.getpid(), os.getppid()}
while True:
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in mine:
            try:
                os.kill(int(name), signal.SIGSTOP)
            except OSError:
                pass
    if begin is not None:
        os.write(begin, b".")
        begin = None
"""


def begin_stopping(run: Callable[[list[str]], object]) -> None:
    run(["sh", "-c", "exec python3 /workspace/system/stop.py > /dev/null 2>&1 < /dev/null"])


@pytest.mark.parametrize("keeper", [("--save-every-s", "0.5", "--look-every-s", "0.2")], indirect=True)
def test_a_workspace_that_stops_its_own_saving_keeps_no_other_from_being_saved(
    keeper: KeeperProcess, open_run: Callable[[], str]
) -> None:
    hostile, other = sorted([open_run(), open_run()])
    services.put_file(hostile, "/workspace/system/stop.py", STOPS_ALL_OTHERS.encode())
    begin_stopping(lambda argv: services.run_in_workspace(hostile, argv))
    time.sleep(1.5)  # the next look at the hostile one is under way, and stands still
    saved = Path(keeper.state_dir) / other / "storage.tar"
    for number in range(2):
        before = saved.stat().st_mtime_ns
        services.put_file(other, "/workspace/system/work.py", f"hours of work {number}".encode())
        deadline = time.monotonic() + 20  # one look at a workspace that stands still takes thirty
        while saved.stat().st_mtime_ns == before:
            assert time.monotonic() < deadline, "somebody else's workspace keeps this one from being saved"
            time.sleep(0.05)


def test_a_job_that_was_stopped_does_not_stay_for_ever(
    runtime: LauncherRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = layout.launcher_command

    def hasty(settings: Any) -> list[str]:
        *command, code = made(settings)
        begin = "from fdegym_launcher.main import main; "
        assert begin in code
        return [*command, code.replace(begin, f"{begin}sys.modules['fdegym_launcher.main'].JOB_WALL_S = 1.0; ")]

    monkeypatch.setattr(layout, "launcher_command", hasty)
    runtime.create("one", SandboxSpec())
    sandbox = runtime.start("one")
    sandbox.put("/workspace/system/stop.py", STOPS_ALL_OTHERS.encode())
    begin_stopping(sandbox.exec)
    with pytest.raises(SandboxError) as ended:
        for _ in range(1000):  # on a busy machine a job may be over before it is stopped
            sandbox.signature(["/workspace/system"])
    assert "did not answer" not in str(ended.value), "who waits is told, and does not have to lose patience"
