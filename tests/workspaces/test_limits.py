"""How much a sandbox may use, one limit a test: each is met, holds, is told in words, and leaves the sandbox usable.

What a neighbour feels of somebody who goes for all of them is tried in ``tests/isolation/test_exhaustion.py``.
Everything here runs once for each way in which this host can hold a sandbox to its totals (``holders.py``).
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workspaces.holders import HOLDERS, hold_by
from tests.workspaces.inside import Start, nobody_sleeps, python, read_terminal, shell
from tests.workspaces.runtimes import unusable
from workspaces.launcher.memory import MemoryWatch
from workspaces.runtime import layout
from workspaces.runtime.base import CallLimits, Limits, SandboxSpec, StepResult
from workspaces.runtime.bubblewrap import BubblewrapRuntime
from workspaces.runtime.errors import SandboxFileProblem
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.limits import Watcher
from workspaces.runtime.sandbox import LaunchedSandbox

pytestmark = pytest.mark.sandbox
SMALL = SandboxSpec(limits=Limits(memory_mb=150, processes=40, disk_mb=8, inodes=200, open_files=64, shm_mb=4))
PATIENT_S = 60.0


@pytest.fixture(params=HOLDERS)
def runtime(state_dir: Path, request: pytest.FixtureRequest) -> Iterator[BubblewrapRuntime]:
    made = BubblewrapRuntime(state_dir, enforcement=hold_by(request.param))
    if not made.report().usable:
        unusable(made.report())
    yield made
    for sandbox in made.adopt({}):
        made.destroy(sandbox.id)


@pytest.fixture
def small(start: Start) -> LaunchedSandbox:
    return start("small", SMALL)


@contextlib.contextmanager
def terminal_of(sandbox: LaunchedSandbox) -> Iterator[int]:
    """An open terminal at its first prompt: the master's descriptor."""
    master, _ = sandbox.open_terminal(columns=200, rows=40)
    try:
        read_terminal(master, b"$ ")
        yield master
    finally:
        os.close(master)


def step(sandbox: LaunchedSandbox, code: str, limits: CallLimits) -> StepResult:
    sandbox.put("/workspace/system/job.py", code.encode())
    return sandbox.step(["python", "-m", "job"], limits=limits)


def hog(mb: int) -> str:
    """A program that holds so much memory, and says so in /tmp."""
    take = f"x = bytearray({mb} << 20)\nfor n in range(0, {mb} << 20, 4096): x[n] = 1"
    return f"import os, time\n{take}\nopen(f'/tmp/held-{{os.getpid()}}', 'w').close()\ntime.sleep(60)"


# memory


def test_the_report_names_who_holds_the_totals(runtime: LauncherRuntime) -> None:
    enforced = runtime.report().limits_enforced_by
    if not isinstance(runtime, BubblewrapRuntime):
        assert enforced["memory"] == enforced["processes"] == enforced["cpu"] == "docker's cgroup"
    elif isinstance(runtime.enforcement, Watcher):
        assert enforced["memory"] == "watcher"
        assert enforced["processes"] == ("none: started as root" if os.geteuid() == 0 else "rlimit")
    else:
        assert enforced["memory"] == enforced["processes"] == f"cgroup v{runtime.enforcement.version}"
    assert (enforced["disk"], enforced["inodes"], enforced["shm"]) == ("file system",) * 3
    assert enforced["open_files"] == "rlimit"


def test_one_program_may_take_as_much_memory_as_the_sandbox_and_no_more(small: LaunchedSandbox) -> None:
    assert shell(small, "ulimit -Hv") == f"{150 << 10}\n"
    assert b"MemoryError" in small.exec(["python", "-c", "x = bytearray(160 << 20)"]).stderr
    assert python(small, "x = bytearray(100 << 20); print('fits')") == "fits\n"


def test_memory_that_many_share_counts_once(small: LaunchedSandbox) -> None:
    code = "import os, time\nx = bytearray(80 << 20)\nfor n in range(6):\n    if os.fork() == 0: time.sleep(1); os._exit(0)"
    assert python(small, code + "\nfor n in range(6): os.wait()\nprint('all lived')") == "all lived\n"


def test_whoever_works_at_a_terminal_is_told_which_limit_of_memory_was_met(small: LaunchedSandbox) -> None:
    small.put("/tmp/hog.py", hog(60).encode())
    with terminal_of(small) as master:
        os.write(master, b"for n in 1 2 3 4; do python /tmp/hog.py & done\n")
        said = read_terminal(master, b"150 MB of memory together", PATIENT_S)
        assert re.search(rb"(was|were) ended: the workspace's programs may hold 150 MB of memory together\.", said)
        shell(small, "pkill python")


def test_a_step_that_is_ended_for_the_memory_of_all_failed_by_memory(small: LaunchedSandbox) -> None:
    """Whether the launcher ended it or the kernel did: the debriefing says ``memory_limit``, not ``signal``."""
    child = hog(20).replace("\n", "\n        ")
    code = f"import os\nfor n in range(5):\n    if os.fork() == 0:\n        {child}\n        os._exit(0)\n{hog(100)}"
    result = step(small, code, CallLimits(memory_mb=140, cpu_s=30, wall_s=PATIENT_S))
    assert (result.failure, result.exit_status) == ("memory_limit", -9)
    assert step(small, "print('next')", CallLimits()).stdout == b"next\n"


def test_a_kill_by_the_kernel_that_was_told_before_its_program_was_collected_still_counts_for_it(
    tmp_path: Path,
) -> None:
    """The kernel counts a kill before the program is dead: the launcher may look, and tell of it, in between."""
    events = tmp_path / "memory.events"
    events.write_text("oom 0\noom_kill 3\noom_group_kill 0\n")
    with events.open("rb") as file:
        watch = MemoryWatch(1 << 20, file.fileno())
        before = watch.kernel_kills
        assert (before, watch.look(), watch.kills) == (3, [], 0)
        events.write_text("oom 1\noom_kill 4\noom_group_kill 0\n")
        assert [victim.name for victim in watch.look()] == ["A program"]
        assert (watch.kernel_kills > before, watch.look(), watch.kills) == (True, [], 1)


def test_a_step_has_a_limit_of_memory_of_its_own(small: LaunchedSandbox) -> None:
    result = step(small, "x = bytearray(100 << 20)", CallLimits(memory_mb=80))
    assert result.failure == "memory_limit"
    assert result.stderr.rstrip().endswith(b"MemoryError")


def test_files_do_not_count_as_memory_of_programs(small: LaunchedSandbox) -> None:
    """They lie in memory and have a limit of their own; a full storage ends nobody."""
    shell(small, "head -c 7M /dev/zero > /workspace/system/full; head -c 3M /dev/zero > /dev/shm/full")
    code = "x = bytearray(100 << 20); import time; time.sleep(1); print('lives')"
    assert python(small, code) == "lives\n"
    assert small.usage()["memory_kills"] == 0


# processes


def processes_are_bounded(runtime: LauncherRuntime) -> bool:
    return not runtime.report().limits_enforced_by["processes"].startswith("none")


def test_a_step_has_a_limit_of_processes_of_its_own(runtime: LauncherRuntime, small: LaunchedSandbox) -> None:
    code = "import os, time\nfor n in range(99):\n  try:\n    if os.fork() == 0: time.sleep(9); os._exit(0)\n"
    result = step(small, code + "  except OSError: break\nprint(n)", CallLimits(processes=10))
    if os.geteuid() != 0:  # for root it takes a cgroup, which counts for all of the sandbox
        assert int(result.stdout) < 10
    assert result.failure is None


def test_whoever_works_at_a_terminal_is_told_that_there_are_too_many_processes(
    runtime: LauncherRuntime, small: LaunchedSandbox
) -> None:
    if not processes_are_bounded(runtime):
        return
    bomb = b"import os, time\nfor n in range(99):\n  try:\n    if os.fork() == 0: time.sleep(9); os._exit(0)\n"
    small.put("/tmp/bomb.py", bomb + b"  except OSError: pass\ntime.sleep(9)")
    with terminal_of(small) as master:
        os.write(master, b"python /tmp/bomb.py &\n")
        assert b"may run 40 processes and threads" in read_terminal(master, b"before some end", PATIENT_S)


# storage


def test_bytes_are_bounded_and_one_file_more_is_refused_in_words(small: LaunchedSandbox) -> None:
    fill = "cd /workspace/system; for n in 1 2 3; do dd if=/dev/zero of=$n bs=1M count=4 status=none; done"
    assert "No space left on device" in shell(small, fill)
    assert small.usage()["disk_bytes"] <= 8 << 20
    with pytest.raises(SandboxFileProblem, match="folder of the workspace is full") as caught:
        small.put("/workspace/system/more", b"x" * (5 << 20))
    assert caught.value.kind == "full"
    shell(small, "rm /workspace/system/1")
    small.put("/workspace/system/more", b"x" * 1000)


def test_each_folder_has_its_part_of_the_storage_and_cannot_take_anothers(small: LaunchedSandbox) -> None:
    """Half is for what is worked on. A full /tmp does not keep anybody from saving."""
    shares = layout.storage_shares(SMALL)
    assert {folder: (share.kib, share.inodes) for folder, share in shares.items()} == {
        "/tmp": (1364, 33),
        "/home/engineer": (1364, 33),
        "/workspace/system": (4096, 100),
        "/workspace/deliverables": (1364, 33),
    }
    for folder, share in shares.items():
        said = shell(small, f"(head -c 9M /dev/zero > {folder}/x; stat -c %s {folder}/x)")
        assert "No space left on device" in said
        assert share.kib - 8 <= int(said.split()[-1]) >> 10 <= share.kib
    assert small.usage()["disk_bytes"] <= 8 << 20


@pytest.mark.parametrize("writable", [(), ("/workspace/system",), ("/a", "/b", "/c", "/d", "/e")])
def test_the_parts_of_all_folders_are_never_more_than_the_whole(writable: tuple[str, ...]) -> None:
    spec = SandboxSpec(limits=Limits(disk_mb=7, inodes=1001), writable=writable)
    shares = layout.storage_shares(spec).values()
    assert len(shares) == 2 + len(writable)
    assert 7 * 1024 * 0.95 < sum(share.kib for share in shares) <= 7 * 1024
    assert 1001 - 8 < sum(share.inodes for share in shares) <= 1001


def test_inodes_are_bounded(small: LaunchedSandbox) -> None:
    code = "for n in range(1000): open(f'/workspace/system/{n}', 'w').close()"
    assert b"No space left" in small.exec(["python", "-c", code]).stderr
    assert "No space left" in shell(small, "mkdir /workspace/system/x")
    assert small.usage()["inodes"] <= 200


@pytest.mark.parametrize(
    ("fill", "words"),
    [
        (
            "cat /dev/zero > /tmp/a; cat /dev/zero > /tmp/b; sleep 2",
            b"/tmp is full, it may hold 1.3 MB: nothing more can be saved there",
        ),
        (
            "for n in $(seq 300); do : > /tmp/$n; done 2>/dev/null; sleep 2",
            b"/tmp holds 33 files and folders, all it may",
        ),
    ],
    ids=["bytes", "inodes"],
)
def test_whoever_works_at_a_terminal_is_told_that_the_storage_is_full(
    small: LaunchedSandbox, fill: str, words: bytes
) -> None:
    with terminal_of(small) as master:
        os.write(master, f"{fill}\n".encode())
        assert words in read_terminal(master, words, PATIENT_S)
        os.write(master, b"rm -f /tmp/*; sleep 0.5; echo emp''tied\n")
        read_terminal(master, b"emptied", PATIENT_S)
        os.write(master, f"{fill}\n".encode())
        assert words in read_terminal(master, words, PATIENT_S), "it is told again when it is met again"


def test_shared_memory_is_bounded_in_bytes_and_in_files(small: LaunchedSandbox) -> None:
    assert "No space left" in shell(small, "dd if=/dev/zero of=/dev/shm/x bs=1M count=8 status=none")
    assert shell(small, "stat -c %s /dev/shm/x; rm /dev/shm/x") == f"{4 << 20}\n"
    code = "n = 0\ntry:\n    for n in range(5000): open(f'/dev/shm/{n}', 'w').close()\nexcept OSError: pass\nprint(n)"
    assert int(python(small, code)) < layout.SHM_INODES


def test_no_file_is_larger_than_the_storage_not_even_one_of_nothing(small: LaunchedSandbox) -> None:
    """A sparse file costs nothing here, and would where it is unpacked."""
    assert shell(small, "ulimit -Hf") == f"{8 << 10}\n"
    assert small.exec(["truncate", "-s", "9M", "/tmp/sparse"]).exit_status != 0
    assert small.exec(["truncate", "-s", "8M", "/tmp/sparse"]).exit_status == 0


def test_a_step_has_a_limit_of_a_files_size_of_its_own(small: LaunchedSandbox) -> None:
    code = "with open('/workspace/system/x', 'wb') as f: f.write(bytes(2 << 20))"
    assert step(small, code, CallLimits(file_mb=1)).stderr.rstrip().endswith(b"File too large")
    assert step(small, code, CallLimits(file_mb=3)).failure is None


# descriptors, time, output


def test_open_files_are_bounded(small: LaunchedSandbox) -> None:
    code = "import os\nn = 0\ntry:\n    while True: n = os.open('/dev/null', os.O_RDONLY)\n"
    assert python(small, code + "except OSError as e: print(n, e.strerror)") == "63 Too many open files\n"


def test_a_step_may_use_so_much_cpu_time_with_all_it_starts(small: LaunchedSandbox) -> None:
    """None of its processes uses as much as a process may; together they use far more."""
    burn = "        while time.process_time() < 1: pass\n        os._exit(0)\n"
    code = f"import os, time\nfor n in range(9):\n    if os.fork() == 0:\n{burn}for n in range(9): os.wait()"
    assert step(small, code, CallLimits(cpu_s=3, wall_s=PATIENT_S)).failure == "cpu_limit"
    assert step(small, "while True: pass", CallLimits(cpu_s=1, wall_s=PATIENT_S)).failure == "cpu_limit"
    assert step(small, "print('next')", CallLimits()).stdout == b"next\n"


def test_a_step_may_take_so_long(small: LaunchedSandbox) -> None:
    assert step(small, "import time; time.sleep(99)", CallLimits(wall_s=1)).failure == "wall_limit"


def test_a_command_may_take_so_long_with_all_it_starts(small: LaunchedSandbox) -> None:
    """FC-56, FC-81."""
    assert small.exec(["bash", "-c", "sleep 7777 & sleep 7777"], timeout_s=1).timed_out
    assert nobody_sleeps(small)


def test_of_what_is_printed_the_beginning_is_kept(small: LaunchedSandbox) -> None:
    code = "import sys\nprint('out' + 'x' * 1_000_000)\nprint('err' + 'x' * 1_000_000, file=sys.stderr)"
    result = step(small, code, CallLimits(output_bytes=1000))
    assert (len(result.stdout), len(result.stderr), result.truncated) == (1000, 1000, True)
    assert (result.stdout[:3], result.stderr[:3]) == (b"out", b"err")
    command = small.exec(["python", "-c", code], output_bytes=1000)
    assert (len(command.stdout), len(command.stderr), command.truncated) == (1000, 1000, True)


# what is too much to be saved


def test_what_lies_too_deep_is_named_by_a_snapshot(start: Start, tmp_path: Path) -> None:
    sandbox = start("deep", replace(SMALL, limits=replace(SMALL.limits, inodes=2_000)))
    shell(sandbox, f"mkdir -p /workspace/system/{'d/' * 64}; echo kept > /workspace/system/{'d/' * 64}kept")
    shell(sandbox, f"mkdir -p /workspace/system/{'e/' * 65}; echo lost > /workspace/system/{'e/' * 65}lost")
    report = sandbox.snapshot(tmp_path / "x.tar", paths=["/workspace/system"], max_bytes=1 << 20)
    assert report.files == 1
    assert report.skipped == (("/".join("e" * 65), "deeper than 64 folders"),)


def test_whoever_works_at_a_terminal_is_told_what_cannot_be_saved(
    runtime: LauncherRuntime, small: LaunchedSandbox
) -> None:
    shell(small, f"mkdir -p /workspace/system/{'d/' * 65}; echo lost > /workspace/system/{'d/' * 65}lost")
    shell(small, "mkdir /workspace/system/$'\\e]0;title\\a'; mkfifo /workspace/system/fifo")
    with terminal_of(small) as master:
        runtime.checkpoint("small")
        said = read_terminal(master, b"folders)", PATIENT_S)
        assert b"What cannot be saved is gone when the workspace stops: /workspace/system/d/d" in said
        assert b"(deeper than 64 folders)." in said
        runtime.checkpoint("small")
        os.write(master, b"echo do''ne\n")
        assert b"cannot be saved" not in read_terminal(master, b"done", PATIENT_S), "once, not every minute"
