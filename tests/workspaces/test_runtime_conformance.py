"""What every sandbox runtime must do. The last test runs all of it once more as an unprivileged user."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.workspaces.inside import Start, shell
from workspaces.runtime.base import Limits, Mount, SandboxSpec, SandboxState
from workspaces.runtime.bubblewrap import BubblewrapRuntime
from workspaces.runtime.errors import (
    SandboxBusy,
    SandboxExists,
    SandboxFileProblem,
    SandboxGone,
    SandboxMissing,
    SandboxSpecProblem,
    SandboxStartFailed,
)
from workspaces.runtime.layout import interpreter_mounts
from workspaces.runtime.sandbox import LaunchedSandbox

pytestmark = pytest.mark.sandbox
ROOT = Path(__file__).resolve().parents[2]
#: The other half of what every runtime must do.
WORK = Path(__file__).with_name("test_runtime_work.py")
AS_USER = "FDEGYM_CONFORMANCE_AS_USER"


# life


def test_a_sandbox_goes_from_created_to_gone(runtime: BubblewrapRuntime) -> None:
    sandbox = runtime.create("one", SandboxSpec())
    assert sandbox.state() is SandboxState.CREATED
    assert runtime.start("one").state() is SandboxState.RUNNING
    sandbox.stop()
    assert sandbox.state() is SandboxState.STOPPED
    runtime.destroy("one")
    assert sandbox.state() is SandboxState.GONE
    assert runtime.get("one") is None


def test_every_act_may_be_repeated(runtime: BubblewrapRuntime) -> None:
    runtime.create("one", SandboxSpec())
    runtime.start("one")
    assert runtime.start("one").exec(["true"]).exit_status == 0
    for _ in range(2):
        runtime.stop("one")
    for _ in range(2):
        runtime.destroy("one")


def test_an_id_can_be_created_once(runtime: BubblewrapRuntime) -> None:
    runtime.create("one", SandboxSpec())
    with pytest.raises(SandboxExists):
        runtime.create("one", SandboxSpec())


@pytest.mark.parametrize("name", ["../x", "_hidden", "", "a b", "a/b", "x" * 65, "-x"])
def test_an_id_cannot_name_another_place(runtime: BubblewrapRuntime, name: str) -> None:
    with pytest.raises((SandboxSpecProblem, IndexError)):
        runtime.create(name, SandboxSpec())


def test_a_failed_start_cleans_itself_and_may_be_tried_again(runtime: BubblewrapRuntime, tmp_path: Path) -> None:
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


def test_a_sandbox_that_was_killed_is_gone_and_not_a_failed_command(runtime: BubblewrapRuntime, start: Start) -> None:
    """FC-57, FC-73."""
    sandbox = start()
    sandbox.put("/workspace/system/kept", b"1")
    runtime.checkpoint("one")
    for pid in runtime._living("one"):
        os.kill(pid, 9)
    time.sleep(0.2)
    with pytest.raises(SandboxGone):
        sandbox.exec(["true"])
    assert sandbox.state() is SandboxState.STOPPED
    assert runtime.start("one").read("/workspace/system/kept", max_bytes=9) == b"1"
    runtime.destroy("one")


def test_files_outlive_a_stop_with_modes_links_and_names(runtime: BubblewrapRuntime, start: Start) -> None:
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


def test_another_process_finds_the_same_sandbox_by_its_label(runtime: BubblewrapRuntime) -> None:
    """FC-60, FC-62."""
    runtime.create("one", SandboxSpec(labels={"kind": "grade", "run": "7"}))
    runtime.create("two", SandboxSpec(labels={"kind": "workspace"}))
    runtime.start("one").put("/tmp/x", b"still here")
    other = BubblewrapRuntime(runtime.state_dir)
    (found,) = other.adopt({"run": "7"})
    assert found.read("/tmp/x", max_bytes=100) == b"still here"
    assert {sandbox.id for sandbox in other.adopt({})} == {"one", "two"}, "created and never started is found too"
    other.destroy("one")
    with pytest.raises(SandboxMissing):
        runtime.start("one")


def test_many_starts_at_once_all_end_ready(runtime: BubblewrapRuntime) -> None:
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


def test_a_sandbox_whose_maker_is_gone_for_good_ends_by_itself(runtime: BubblewrapRuntime, start: Start) -> None:
    """FC-60: also where even the directory that would lead to it was removed."""
    sandbox = start("one", SandboxSpec(abandon_after_s=1.0))
    sandbox.exec(["bash", "-c", "setsid sleep 600 >/dev/null 2>&1 &"])
    time.sleep(2)
    assert sandbox.state() is SandboxState.RUNNING, "a connection that is kept open counts"
    sandbox.close_connections()
    time.sleep(2.5)
    assert sandbox.state() is SandboxState.STOPPED
    assert runtime._living("one") == []


def test_two_runtimes_of_a_host_may_use_the_same_id(runtime: BubblewrapRuntime, start: Start, tmp_path: Path) -> None:
    sandbox = start("one")
    other = BubblewrapRuntime(runtime.state_dir / "_other")
    other.create("one", SandboxSpec())
    other.start("one")
    other.destroy("one")
    assert sandbox.exec(["true"]).exit_status == 0


# what is visible


def test_the_sandbox_shows_nothing_of_the_host(sandbox: LaunchedSandbox) -> None:
    seen = shell(sandbox, "ls / /usr/local /usr/local/bin /usr/lib/python3/dist-packages /home /run /root /var /srv")
    assert "python" in seen.split("/usr/local/bin:")[1].split("/")[0]
    for name in ("site-packages", "dist-packages/", "scenarios", "manage.py", ".venv"):
        assert name not in seen
    assert shell(sandbox, "python -c 'import sys; print([p for p in sys.path if \"packages\" in p])'").strip() in (
        "[]",
        "['/usr/lib/python3/dist-packages']",
    )
    assert "No module named" in shell(sandbox, "python -c 'import django'")
    assert "No module named" in shell(sandbox, "python -c 'import yaml'")
    assert str(ROOT) not in shell(sandbox, "cat /proc/1/cmdline; env; cat /etc/*", 30)


def test_there_is_an_ordinary_user_without_any_right(sandbox: LaunchedSandbox) -> None:
    assert shell(sandbox, "id -un; id -u; whoami; hostname; echo $HOME; pwd") == (
        "engineer\n1000\nengineer\nworkspace\n/home/engineer\n/workspace\n"
    )
    status = shell(sandbox, "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status")
    assert {line.split()[1] for line in status.splitlines() if line.startswith("Cap")} == {"0000000000000000"}
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status


@pytest.mark.parametrize(
    "path",
    ["/x", "/usr/x", "/etc/x", "/dev/x", "/opt/x", "/run/x", "/workspace/x", "/proc/sys/kernel/core_pattern"],
)
def test_only_its_own_folders_can_be_written(sandbox: LaunchedSandbox, path: str) -> None:
    said = shell(sandbox, f"touch {path}; (echo planted > {path})")
    assert "Read-only file system" in said or "Permission denied" in said
    assert "planted" not in shell(sandbox, f"cat {path}")


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


def test_a_socket_file_itself_cannot_be_shown(runtime: BubblewrapRuntime, state_dir: Path) -> None:
    import socket

    path = state_dir / "x.sock"
    socket.socket(socket.AF_UNIX).bind(str(path))
    runtime.create("one", SandboxSpec(mounts=(Mount(path, "/run/x.sock"),)))
    with pytest.raises(SandboxSpecProblem):
        runtime.start("one")


# what it cannot do


def test_nothing_outside_can_be_reached(sandbox: LaunchedSandbox) -> None:
    """FC-50."""
    code = (
        "import socket\n"
        "for host, port in (('169.254.169.254', 80), ('172.17.0.1', 6379), ('1.1.1.1', 53), ('127.0.0.1', 8000)):\n"
        "    try: socket.create_connection((host, port), 1); print('REACHED', host)\n"
        "    except OSError as e: print(e)\n"
        "for family in (40, 17, 38):\n"
        "    try: socket.socket(family, 1); print('REACHED', family)\n"
        "    except OSError as e: print(e)\n"
    )
    said = sandbox.exec(["python", "-c", code]).stdout.decode()
    assert "REACHED" not in said
    assert said.count("\n") == 7
    assert shell(sandbox, "cat /proc/net/dev").count(":") <= 1 + shell(sandbox, "cat /proc/net/dev").count("lo:")


@pytest.mark.parametrize(
    "command",
    [
        "unshare -U true",
        "unshare -r -m true",
        "mount -t tmpfs x /tmp",
        'python -c "import ctypes, os; l = ctypes.CDLL(None, use_errno=True); assert l.ptrace(16, 1, 0, 0) == 0"',
        "python -c \"import os; os.memfd_create('x')\"",
        'python -c "import resource; resource.prlimit(1, resource.RLIMIT_NOFILE, (3, 3))"',
        'python -c "import os; os.setpriority(os.PRIO_PROCESS, 1, 19)"',
        'python -c "import os; os.setpriority(os.PRIO_USER, 0, 19)"',
        'python -c "import os; os.sched_setaffinity(1, {0})"',
        "python -c \"import fcntl, os; m, s = os.openpty(); fcntl.ioctl(s, 0x5412, b'x')\"",
        "cat /proc/1/mem",
        "cat /proc/1/environ",
        "cat /proc/1/fd/3",
        "readlink /proc/1/fd/3",
        "dmesg",
    ],
)
def test_the_kernels_dangerous_doors_are_shut(sandbox: LaunchedSandbox, command: str) -> None:
    assert sandbox.exec(["bash", "-c", command]).exit_status != 0


def test_pid_1_survives_every_signal_from_inside(sandbox: LaunchedSandbox) -> None:
    shell(sandbox, "for n in $(seq 1 64); do kill -$n 1; done")
    assert sandbox.exec(["echo", "alive"]).stdout == b"alive\n"


def test_a_call_of_another_architecture_ends_the_process(sandbox: LaunchedSandbox) -> None:
    code = "import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3')\n"
    code += "a = ctypes.addressof(ctypes.c_char.from_buffer(m))\nctypes.CFUNCTYPE(ctypes.c_int)(a)()\nprint('ran')\n"
    if os.uname().machine != "x86_64":
        pytest.skip("32-bit calls exist on x86-64")
    result = sandbox.exec(["python", "-c", code])
    assert b"ran" not in result.stdout
    assert result.exit_status < 0


# limits


def test_bytes_are_bounded_exactly(start: Start) -> None:
    sandbox = start("one", SandboxSpec(limits=Limits(disk_mb=8)))
    said = shell(
        sandbox, "cd /workspace/system; for n in 1 2 3; do dd if=/dev/zero of=$n bs=1M count=4 status=none; done"
    )
    assert "No space left" in said
    assert sandbox.usage()["disk_bytes"] <= 8 << 20
    with pytest.raises(SandboxFileProblem) as caught:
        sandbox.put("/workspace/system/more", b"x" * (5 << 20))
    assert caught.value.kind == "full"
    shell(sandbox, "rm /workspace/system/1")
    sandbox.put("/workspace/system/more", b"x" * 1000)


def test_inodes_are_bounded(start: Start) -> None:
    sandbox = start("one", SandboxSpec(limits=Limits(inodes=200)))
    code = "for n in range(1000): open(f'/tmp/{n}', 'w').close()"
    assert b"No space left" in sandbox.exec(["python", "-c", code]).stderr
    assert "No space left" in shell(sandbox, "mkdir /home/engineer/x")


def test_shared_memory_is_bounded(start: Start) -> None:
    sandbox = start("one", SandboxSpec(limits=Limits(shm_mb=4)))
    assert "No space left" in shell(sandbox, "dd if=/dev/zero of=/dev/shm/x bs=1M count=8 status=none")


def test_a_fork_bomb_is_stopped_and_the_neighbour_does_not_notice(runtime: BubblewrapRuntime, start: Start) -> None:
    """FC-75."""
    if runtime.enforcement.enforced_by()["processes"].startswith("none"):
        pytest.skip("started as root without a cgroup: nothing bounds processes, and the report says so")
    neighbour = start("two")
    sandbox = start("one", SandboxSpec(limits=Limits(processes=40)))
    bomb = "import os, time\nfor n in range(200):\n  try:\n    if os.fork() == 0: time.sleep(30); os._exit(0)\n"
    bomb += "  except OSError: print(n); break\nelse: print('no limit')\n"
    assert int(sandbox.exec(["python", "-c", bomb]).stdout) < 60
    began = time.monotonic()
    assert neighbour.exec(["true"]).exit_status == 0
    assert time.monotonic() - began < 2
    sandbox.quiesce()
    assert sandbox.usage()["processes"] == 0


def test_memory_of_all_processes_together_is_bounded(start: Start) -> None:
    sandbox = start("one", SandboxSpec(limits=Limits(memory_mb=150)))
    hog = "import time; x = bytearray(60 << 20); time.sleep(10)"
    command = f"for n in 1 2 3 4; do python -c '{hog}' & done; wait -n; echo status $?"
    assert "status 137" in shell(sandbox, command)
    assert sandbox.exec(["true"]).exit_status == 0


def test_one_process_cannot_take_more_than_the_whole(start: Start) -> None:
    sandbox = start("one", SandboxSpec(limits=Limits(memory_mb=100)))
    assert b"MemoryError" in sandbox.exec(["python", "-c", "x = bytearray(300 << 20)"]).stderr


# trusted code


def test_a_trusted_helper_talks_over_its_pipes_without_network_or_write_access(
    runtime: BubblewrapRuntime, tmp_path: Path
) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "helper.py").write_text(
        "import sys, pydantic\nfor line in sys.stdin:\n    print(line.strip().upper(), pydantic.__name__, flush=True)\n"
    )
    mounts = (*interpreter_mounts(Path(sys.executable)), Mount(code, "/srv/code"))
    spec = SandboxSpec(mounts=mounts, environment={"PYTHONPATH": "/srv/code"}, working_directory="/tmp")
    child = runtime.open_process([sys.executable, "-u", "-m", "helper"], spec)
    assert child.stdin is not None
    assert child.stdout is not None
    for word in (b"one", b"two"):
        child.stdin.write(word + b"\n")
        child.stdin.flush()
        assert child.stdout.readline() == word.upper() + b" pydantic\n"
    child.stdin.close()
    assert child.wait(10) == 0


def test_an_impossible_mount_is_refused_in_words(runtime: BubblewrapRuntime) -> None:
    runtime.create("one", SandboxSpec(mounts=(Mount(Path("/no/such/place"), "/x"),)))
    with pytest.raises(SandboxSpecProblem, match="does not exist"):
        runtime.start("one")


def test_a_running_sandbox_keeps_its_specification(runtime: BubblewrapRuntime, start: Start) -> None:
    start()
    with pytest.raises(SandboxBusy):
        runtime.respecify("one", SandboxSpec(hostname="other"))


@pytest.mark.timeout(600)
def test_all_of_this_holds_for_an_ordinary_user_too() -> None:
    if os.geteuid() != 0 or os.environ.get(AS_USER) or shutil.which("runuser") is None:
        pytest.skip("only as root, which is not how the product runs")
    try:
        pwd.getpwnam("fdegym")
    except KeyError:
        pytest.skip("there is no unprivileged user fdegym")
    command = ["runuser", "-u", "fdegym", "--", "env", f"{AS_USER}=1", "HOME=/tmp", sys.executable, "-m", "pytest"]
    command += ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--basetemp", f"/tmp/fw-user-{os.getpid()}"]
    result = subprocess.run([*command, __file__, str(WORK)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout[-5000:] + result.stderr[-2000:]
    assert " passed" in result.stdout
