"""What every sandbox runtime must do for the work inside: commands, files, terminals."""

from __future__ import annotations

import os
import tarfile
import time
from pathlib import Path

import pytest

from tests.workspaces.inside import Start, nobody_sleeps, read_terminal, shell
from workspaces.runtime.base import CallLimits, Limits, SandboxSpec
from workspaces.runtime.errors import (
    SandboxFileProblem,
)
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.sandbox import LaunchedSandbox

pytestmark = pytest.mark.sandbox


# commands


def test_exec_gives_status_output_and_input(sandbox: LaunchedSandbox) -> None:
    result = sandbox.exec(["bash", "-c", "cat; echo err >&2; exit 3"], stdin=b"in" * 100_000)
    assert (result.exit_status, len(result.stdout), result.stderr) == (3, 200_000, b"err\n")
    assert sandbox.exec(["bash", "-c", "kill -9 $$"]).exit_status == -9
    assert sandbox.exec(["no-such-command"]).exit_status == 127
    assert sandbox.exec(["/workspace"]).exit_status == 126
    assert (
        sandbox.exec(["bash", "-c", "echo $A; pwd"], environment={"A": "b"}, working_directory="/tmp").stdout
        == b"b\n/tmp\n"
    )


def test_output_beyond_the_limit_is_dropped_and_said(sandbox: LaunchedSandbox) -> None:
    result = sandbox.exec(["bash", "-c", "yes | head -c 3000000"], output_bytes=1000)
    assert (len(result.stdout), result.truncated, result.exit_status) == (1000, True, 0)


def test_a_background_child_that_holds_the_pipe_does_not_hold_the_answer(sandbox: LaunchedSandbox) -> None:
    answer = sandbox.exec(["bash", "-c", "sleep 7777 & echo done"], timeout_s=200)
    assert (answer.stdout, answer.timed_out) == (b"done\n", False)


# files


def test_files_are_written_read_listed_renamed_and_deleted(sandbox: LaunchedSandbox) -> None:
    sandbox.put("/workspace/system/deep/er/a b", b"\0\xff")
    assert sandbox.read("/workspace/system/deep/er/a b", max_bytes=2) == b"\0\xff"
    (entry,) = sandbox.listing("/workspace/system/deep/er")
    assert (entry["name"], entry["kind"], entry["size"]) == ("a b", "file", 2)
    sandbox.rename("/workspace/system/deep", "/workspace/system/moved")
    sandbox.delete("/workspace/system/moved")
    assert sandbox.listing("/workspace/system") == []


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/workspace/system/link", "link"),
        ("/workspace/system/dir-link/passwd", "link"),
        ("/workspace/system/fifo", "not_a_file"),
        ("/workspace/system", "not_a_file"),
        ("/workspace/system/none", "missing"),
        ("/workspace/system/../../etc/passwd", "name"),
        ("relative", "name"),
        ("/workspace/system/" + "x" * 300, "name"),
        ("/workspace/system/a\0b", "name"),
        ("/workspace/system/big", "too_large"),
    ],
)
def test_reading_never_follows_a_link_or_waits(sandbox: LaunchedSandbox, path: str, kind: str) -> None:
    shell(
        sandbox,
        "cd /workspace/system; ln -s /etc/passwd link; ln -s /etc dir-link; mkfifo fifo; head -c 2000 /dev/zero > big",
    )
    with pytest.raises(SandboxFileProblem) as caught:
        sandbox.read(path, max_bytes=1000)
    assert caught.value.kind == kind


def test_writing_never_follows_a_link(sandbox: LaunchedSandbox) -> None:
    shell(sandbox, "cd /workspace/system; echo kept > /tmp/target; ln -s /tmp/target link; ln -s /tmp dir-link")
    for path in ("/workspace/system/link", "/workspace/system/dir-link/target", "/etc/x", "/workspace/x"):
        with pytest.raises(SandboxFileProblem):
            sandbox.put(path, b"overwritten")
    assert shell(sandbox, "cat /tmp/target") == "kept\n"


def test_a_snapshot_of_the_same_content_has_the_same_bytes(start: Start, tmp_path: Path) -> None:
    contents = []
    for name in ("one", "two"):
        sandbox = start(name)
        order = "b a" if name == "one" else "a b"
        shell(
            sandbox,
            f"cd /workspace/system; for f in {order}; do echo $f > $f; sleep 0.02; done; mkdir d; echo x > d/$'\\xff'",
        )
        shell(
            sandbox,
            "cd /workspace/system; ln -s a link; mkfifo fifo; chmod 700 a; mkdir __pycache__; date > __pycache__/x",
        )
        report = sandbox.snapshot(tmp_path / name, paths=["/workspace/system"], max_bytes=1 << 20)
        assert report.files == 3
        assert {path for path, _ in report.skipped} == {"link", "fifo"}
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]
    with tarfile.open(tmp_path / "one") as tar:
        assert [member.name for member in tar][:3] == ["a", "b", "d"]


def test_a_snapshot_can_seed_another_sandbox(start: Start, tmp_path: Path) -> None:
    sandbox = start("one")
    sandbox.put("/workspace/system/pkg/main.py", b"print('seeded')")
    sandbox.snapshot(tmp_path / "frozen.tar", paths=["/workspace/system"], max_bytes=1 << 20)
    other = start("two", SandboxSpec(seed={"/workspace/system": tmp_path / "frozen.tar"}))
    assert other.step(["python", "-m", "pkg.main"], limits=CallLimits()).stdout == b"seeded\n"


def test_a_snapshot_too_large_writes_nothing(sandbox: LaunchedSandbox, tmp_path: Path) -> None:
    shell(sandbox, "truncate -s 50M /workspace/system/sparse")
    with pytest.raises(Exception, match="larger than"):
        sandbox.snapshot(tmp_path / "x.tar", paths=["/workspace/system"], max_bytes=1 << 20)
    assert list(tmp_path.iterdir()) == []


def test_sparse_files_cannot_make_stopping_impossible(runtime: LauncherRuntime, start: Start) -> None:
    sandbox = start("one", SandboxSpec(limits=Limits(disk_mb=16)))
    shell(sandbox, "cd /workspace/system; echo small > a; for n in 1 2 3 4; do truncate -s 15M z$n; done")
    sandbox.stop()
    assert runtime.start("one").read("/workspace/system/a", max_bytes=99) == b"small\n"


def test_changes_count_lines_inside_the_sandbox(sandbox: LaunchedSandbox, tmp_path: Path) -> None:
    from workspaces.runtime.spec_file import pack_directory

    original = tmp_path / "original"
    original.mkdir()
    (original / "same.py").write_text("a\n")
    (original / "gone.py").write_text("1\n2\n")
    (original / "edited.py").write_text("1\n2\n3\n")
    sandbox.put("/workspace/system/same.py", b"a\n")
    sandbox.put("/workspace/system/edited.py", b"1\n3\n4\n5\n")
    sandbox.put("/workspace/system/new.bin", b"\0\1")
    found = {change["path"]: change for change in sandbox.compare("/workspace/system", pack_directory(original))}
    assert set(found) == {"gone.py", "edited.py", "new.bin"}
    assert (found["edited.py"]["lines_added"], found["edited.py"]["lines_removed"]) == (2, 1)
    assert (found["gone.py"]["kind"], found["gone.py"]["lines_removed"]) == ("removed", 2)
    assert (found["new.bin"]["kind"], found["new.bin"]["binary"]) == ("added", True)


# terminals


def test_a_terminal_has_its_size_before_its_first_instruction(sandbox: LaunchedSandbox) -> None:
    """FC-19."""
    for number in range(10):
        master, pid = sandbox.open_terminal(columns=133, rows=37, number=number, argv=("stty", "size"))
        assert pid > 1
        assert b"37 133" in read_terminal(master, b"133")
        os.close(master)


def test_the_launcher_keeps_a_terminal_whose_holder_was_killed(sandbox: LaunchedSandbox) -> None:
    master, _ = sandbox.open_terminal(columns=80, rows=24)
    os.write(master, b"X=kept\n")
    read_terminal(master, b"$ ")
    os.close(master)
    time.sleep(0.1)
    again = sandbox.take_terminal(1)
    os.write(again, b"echo [$X]\n")
    assert b"[kept]" in read_terminal(again, b"[kept]")
    os.close(again)


def test_closing_a_terminal_ends_all_of_its_session(sandbox: LaunchedSandbox) -> None:
    """FC-54, FC-56."""
    master, _ = sandbox.open_terminal(columns=80, rows=24)
    os.write(master, b"sleep 555 & sleep 556 & nohup sleep 557 >/dev/null & echo st''arted\n")
    read_terminal(master, b"started")
    sandbox.close_terminal(1)
    assert nobody_sleeps(sandbox)
    os.close(master)
