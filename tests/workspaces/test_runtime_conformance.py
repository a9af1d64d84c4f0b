"""What every sandbox runtime must do. What it must not let through is in ``test_isolation.py`` and ``test_limits.py``."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import pytest

from tests.workspaces.inside import Start, shell
from tests.workspaces.runtimes import another, kill, runtime_of
from workspaces.runtime.base import Mount, SandboxSpec, SandboxState
from workspaces.runtime.bubblewrap import BubblewrapRuntime
from workspaces.runtime.errors import (
    SandboxBusy,
    SandboxExists,
    SandboxGone,
    SandboxMissing,
    SandboxSpecProblem,
    SandboxStartFailed,
)
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.layout import interpreter_mounts

pytestmark = pytest.mark.sandbox
ROOT = Path(__file__).resolve().parents[2]


# life


def test_a_sandbox_goes_from_created_to_gone(runtime: LauncherRuntime) -> None:
    sandbox = runtime.create("one", SandboxSpec())
    assert sandbox.state() is SandboxState.CREATED
    assert runtime.start("one").state() is SandboxState.RUNNING
    sandbox.stop()
    assert sandbox.state() is SandboxState.STOPPED
    runtime.destroy("one")
    assert sandbox.state() is SandboxState.GONE
    assert runtime.get("one") is None


def test_every_act_may_be_repeated(runtime: LauncherRuntime) -> None:
    runtime.create("one", SandboxSpec())
    runtime.start("one")
    assert runtime.start("one").exec(["true"]).exit_status == 0
    for _ in range(2):
        runtime.stop("one")
    for _ in range(2):
        runtime.destroy("one")


def test_an_id_can_be_created_once(runtime: LauncherRuntime) -> None:
    runtime.create("one", SandboxSpec())
    with pytest.raises(SandboxExists):
        runtime.create("one", SandboxSpec())


@pytest.mark.parametrize("name", ["../x", "_hidden", "", "a b", "a/b", "x" * 65, "-x"])
def test_an_id_cannot_name_another_place(runtime: LauncherRuntime, name: str) -> None:
    with pytest.raises((SandboxSpecProblem, IndexError)):
        runtime.create(name, SandboxSpec())


def test_a_failed_start_cleans_itself_and_may_be_tried_again(runtime: LauncherRuntime, tmp_path: Path) -> None:
    """FC-58."""
    shown = tmp_path / "shown"
    shown.mkdir()
    runtime.create("one", SandboxSpec(mounts=(Mount(shown, "/usr/bin/python3"),)))
    with pytest.raises(SandboxStartFailed) as caught:
        runtime.start("one")
    assert "could not be started" in str(caught.value)
    assert runtime.state("one") is not SandboxState.RUNNING
    runtime.respecify("one", SandboxSpec())
    assert runtime.start("one").exec(["true"]).exit_status == 0


def test_a_sandbox_that_was_killed_is_gone_and_not_a_failed_command(runtime: LauncherRuntime, start: Start) -> None:
    """FC-57, FC-73."""
    sandbox = start()
    sandbox.put("/workspace/system/kept", b"1")
    runtime.checkpoint("one")
    kill(runtime, "one")
    time.sleep(0.2)
    with pytest.raises(SandboxGone):
        sandbox.exec(["true"])
    assert sandbox.state() is SandboxState.STOPPED
    assert runtime.start("one").read("/workspace/system/kept", max_bytes=9) == b"1"
    runtime.destroy("one")


def test_files_outlive_a_stop_with_modes_links_and_names(runtime: LauncherRuntime, start: Start) -> None:
    sandbox = start()
    shell(
        sandbox,
        "cd /workspace/system && echo a > a && chmod 750 a && ln -s a link && ln a hard && mkdir -p d/e && "
        "touch $'odd\\xff\\nname' && echo home > ~/mine && echo t > /tmp/not-kept && mkfifo fifo",
    )
    sandbox.stop()
    sandbox = runtime.start("one")
    assert shell(sandbox, "cd /workspace/system; stat -c %a a; readlink link; stat -c %h hard; ls d; cat ~/mine") == (
        "750\na\n2\ne\nhome\n"
    )
    assert "odd" in shell(sandbox, "ls /workspace/system")
    assert "not-kept" not in shell(sandbox, "ls /tmp")


def test_another_process_finds_the_same_sandbox_by_its_label(runtime: LauncherRuntime) -> None:
    """FC-60, FC-62."""
    runtime.create("one", SandboxSpec(labels={"kind": "grade", "run": "7"}))
    runtime.create("two", SandboxSpec(labels={"kind": "workspace"}))
    runtime.start("one").put("/tmp/x", b"still here")
    other = another(runtime)
    (found,) = other.adopt({"run": "7"})
    assert found.read("/tmp/x", max_bytes=100) == b"still here"
    assert {sandbox.id for sandbox in other.adopt({})} == {"one", "two"}, "created and never started is found too"
    other.destroy("one")
    with pytest.raises(SandboxMissing):
        runtime.start("one")


def test_many_starts_at_once_all_end_ready(runtime: LauncherRuntime) -> None:
    """FC-69."""
    names = [f"s{number}" for number in range(6)]
    for name in names:
        runtime.create(name, SandboxSpec())
    threads = [threading.Thread(target=runtime.start, args=(name,)) for name in names + names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [runtime.state(name) for name in names] == [SandboxState.RUNNING] * 6


def test_a_sandbox_whose_maker_is_gone_for_good_ends_by_itself(runtime: LauncherRuntime, start: Start) -> None:
    """FC-60: also where even the directory that would lead to it was removed."""
    sandbox = start("one", SandboxSpec(abandon_after_s=1.0))
    sandbox.exec(["bash", "-c", "setsid sleep 600 >/dev/null 2>&1 &"])
    time.sleep(2)
    assert sandbox.state() is SandboxState.RUNNING, "a connection that is kept open counts"
    sandbox.close_connections()
    time.sleep(2.5)
    assert sandbox.state() is SandboxState.STOPPED
    assert runtime._living("one") == []


def test_two_runtimes_of_a_host_may_use_the_same_id(runtime: LauncherRuntime, start: Start, tmp_path: Path) -> None:
    sandbox = start("one")
    other = runtime_of(runtime.name, runtime.state_dir / "_other")
    other.create("one", SandboxSpec())
    other.start("one")
    other.destroy("one")
    assert sandbox.exec(["true"]).exit_status == 0


# what is visible


def test_shown_files_are_read_only_and_seeds_are_copies(start: Start, tmp_path: Path) -> None:
    shown, seed = tmp_path / "docs", tmp_path / "system"
    for directory in (shown, seed):
        directory.mkdir()
        (directory / "a.txt").write_text("as given")
    (seed / "run.sh").write_text("#!/bin/sh\necho ran\n")
    (seed / "run.sh").chmod(0o755)
    task = tmp_path / "TASK.md"
    task.write_text("task")
    mounts = (Mount(shown, "/workspace/docs"), Mount(task, "/workspace/TASK.md"))
    sandbox = start("one", SandboxSpec(mounts=mounts, seed={"/workspace/system": seed}))
    assert "Read-only" in shell(sandbox, "echo no > /workspace/docs/a.txt; rm /workspace/TASK.md")
    assert shell(sandbox, "cat /workspace/TASK.md; /workspace/system/run.sh") == "taskran\n"
    shell(sandbox, "echo changed > /workspace/system/a.txt")
    assert (seed / "a.txt").read_text() == "as given"


def test_a_socket_is_shown_by_its_directory_and_found_again_after_a_restart(start: Start, state_dir: Path) -> None:
    import socket

    desk = state_dir / "desk"
    desk.mkdir()

    def answer(text: bytes) -> None:
        (desk / "desk.sock").unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(desk / "desk.sock"))
        (desk / "desk.sock").chmod(0o666)  # the user inside may be another one
        listening.listen()

        def serve() -> None:
            stream, _ = listening.accept()
            stream.sendall(text)
            stream.close()
            listening.close()

        threading.Thread(target=serve, daemon=True).start()

    sandbox = start("one", SandboxSpec(mounts=(Mount(desk, "/run/desk"),)))
    ask = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/run/desk/desk.sock'); print(s.recv(99))"
    for text in (b"first", b"after a restart"):
        answer(text)
        assert text.decode() in sandbox.exec(["python", "-c", ask]).stdout.decode()


def test_a_socket_file_itself_cannot_be_shown(runtime: LauncherRuntime, state_dir: Path) -> None:
    import socket

    path = state_dir / "x.sock"
    socket.socket(socket.AF_UNIX).bind(str(path))
    with pytest.raises(SandboxSpecProblem, match="is a socket"):
        runtime.create("one", SandboxSpec(mounts=(Mount(path, "/run/x.sock"),)))


# trusted code


def test_a_trusted_helper_talks_over_its_pipes_without_network_or_write_access(state_dir: Path, tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "helper.py").write_text(
        "import sys, pydantic\nfor line in sys.stdin:\n    print(line.strip().upper(), pydantic.__name__, flush=True)\n"
    )
    mounts = (*interpreter_mounts(Path(sys.executable)), Mount(code, "/srv/code"))
    spec = SandboxSpec(mounts=mounts, environment={"PYTHONPATH": "/srv/code"}, working_directory="/tmp")
    child = BubblewrapRuntime(state_dir).open_process([sys.executable, "-u", "-m", "helper"], spec)
    assert child.stdin is not None
    assert child.stdout is not None
    for word in (b"one", b"two"):
        child.stdin.write(word + b"\n")
        child.stdin.flush()
        assert child.stdout.readline() == word.upper() + b" pydantic\n"
    child.stdin.close()
    assert child.wait(10) == 0


def test_an_impossible_mount_is_refused_in_words(runtime: LauncherRuntime) -> None:
    with pytest.raises(SandboxSpecProblem, match="does not exist"):
        runtime.create("one", SandboxSpec(mounts=(Mount(Path("/no/such/place"), "/x"),)))
    assert runtime.get("one") is None


def test_a_running_sandbox_keeps_its_specification(runtime: LauncherRuntime, start: Start) -> None:
    start()
    with pytest.raises(SandboxBusy):
        runtime.respecify("one", SandboxSpec(hostname="other"))
