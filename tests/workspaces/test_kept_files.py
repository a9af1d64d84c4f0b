"""Whatever a person does to her files, stopping and resuming a workspace gives every one of them back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from workspaces.runtime.base import Limits, SandboxSpec
from workspaces.runtime.errors import SandboxFileProblem, SandboxTooLarge
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.sandbox import LaunchedSandbox

pytestmark = pytest.mark.sandbox
Start = Callable[..., LaunchedSandbox]


def shell(sandbox: LaunchedSandbox, script: str) -> str:
    done = sandbox.exec(["bash", "-c", script])
    assert done.exit_status == 0, done.stderr.decode()
    return done.stdout.decode()


def resumed(runtime: LauncherRuntime, sandbox: LaunchedSandbox) -> LaunchedSandbox:
    sandbox.stop()
    return runtime.start(sandbox.id)


@pytest.mark.parametrize("when", [9223372036854775807, -9223372036854775808, 99999999999999, -1, 0])
def test_a_file_of_any_time_does_not_keep_a_workspace_from_starting(
    runtime: LauncherRuntime, start: Start, when: int
) -> None:
    sandbox = start()
    shell(sandbox, f"cd /workspace/system; echo work > mine; mkdir f; touch -d @{when} mine f")
    assert shell(resumed(runtime, sandbox), "cat /workspace/system/mine") == "work\n"


def test_files_with_holes_are_kept_with_their_holes_and_push_nothing_else_out(
    runtime: LauncherRuntime, start: Start
) -> None:
    """They claim many times the storage; what they really hold fits."""
    sandbox = start("one", SandboxSpec(limits=Limits(disk_mb=16)))
    shell(
        sandbox,
        "cd ~; truncate -s 15M a b c; : > empty; printf middle | dd of=d bs=1 seek=9000000 conv=notrunc status=none; "
        "printf end | dd of=d bs=1 seek=14999997 conv=notrunc status=none; echo work > /workspace/system/z; "
        "truncate -s 9999 $'odd\xff'; ln d hard",
    )
    before = shell(sandbox, "cd ~; sha256sum *; stat -c '%n %s' *")
    sandbox = resumed(runtime, resumed(runtime, sandbox))
    assert shell(sandbox, "cd ~; sha256sum *; stat -c '%n %s' *") == before
    assert shell(sandbox, "cat /workspace/system/z") == "work\n"
    assert int(shell(sandbox, "du -sk ~ | cut -f1")) < 1000


def test_what_its_owner_closed_to_himself_is_kept(runtime: LauncherRuntime, start: Start) -> None:
    sandbox = start()
    shell(
        sandbox,
        "cd /workspace/system; echo secret > f; mkdir d e g; echo one > d/f; echo two > e/f; echo three > g/f; "
        "chmod 000 f d/f d; chmod 300 e; chmod 400 g",
    )
    runtime.checkpoint("one")
    assert shell(sandbox, "cd /workspace/system; stat -c %a f d e g") == "0\n0\n300\n400\n"
    sandbox = resumed(runtime, sandbox)
    assert shell(sandbox, "cd /workspace/system; cat f d/f e/f g/f") == "secret\none\ntwo\nthree\n"


def test_what_its_owner_closed_to_himself_is_submitted(sandbox: LaunchedSandbox, tmp_path: Path) -> None:
    shell(sandbox, "cd /workspace/system; mkdir d; echo one > d/f; chmod 000 d/f d")
    report = sandbox.snapshot(tmp_path / "x.tar", paths=["/workspace/system"], max_bytes=1 << 20)
    assert (report.files, report.skipped) == (1, ())


def test_a_top_folder_closed_to_its_owner_is_kept_and_submitted_too(
    runtime: LauncherRuntime, start: Start, tmp_path: Path
) -> None:
    """Else a slip of the keyboard (chmod -R a-x, say) hands in nothing, and loses everything with the next stop."""
    sandbox = start()
    shell(sandbox, "echo work > /workspace/system/mine; echo home > ~/mine; chmod 000 /workspace/system; chmod 300 ~")
    report = sandbox.snapshot(tmp_path / "x.tar", paths=["/workspace/system"], max_bytes=1 << 20)
    assert (report.files, report.skipped) == (1, ())
    assert shell(sandbox, "stat -c %a /workspace/system ~") == "0\n300\n"
    sandbox = resumed(runtime, sandbox)
    assert shell(sandbox, "cat /workspace/system/mine ~/mine") == "work\nhome\n"


ENDLESS_NAMES = "import os, sys\nos.chdir(sys.argv[1])\nfor i in range({}): {}"


def test_names_without_end_are_listed_compared_and_skipped_as_far_as_an_answer_holds(
    sandbox: LaunchedSandbox, tmp_path: Path
) -> None:
    """Control characters are six times as long in an answer. While grading, a lost answer would make the grade void."""
    fill = ENDLESS_NAMES.format(12_000, "open(f'{i:06}' + chr(1) * 240, 'w')")
    sandbox.exec(["python3", "-c", fill, "/workspace/system"], timeout_s=60)
    entries = sandbox.listing("/workspace/system")
    assert 1_000 < len(entries) < 10_000
    assert entries[0]["name"].startswith("000000")
    from workspaces.runtime.spec_file import pack_directory

    assert 1_000 < len(sandbox.compare("/workspace/system", pack_directory(tmp_path))) < 10_000
    links = ENDLESS_NAMES.format(3_000, "os.symlink('x', 'l' + f'{i:06}' + chr(1) * 240)")
    sandbox.exec(["python3", "-c", links, "/workspace/system"], timeout_s=60)
    report = sandbox.snapshot(tmp_path / "x.tar", paths=["/workspace/system"], max_bytes=1 << 20)
    assert report.files == 12_000
    shell(sandbox, "head -c 2M /dev/zero > /workspace/system/zz")
    with pytest.raises(SandboxTooLarge):
        sandbox.snapshot(tmp_path / "y.tar", paths=["/workspace/system"], max_bytes=1 << 20)


def test_a_top_folder_is_neither_deleted_nor_emptied_nor_moved(sandbox: LaunchedSandbox) -> None:
    shell(sandbox, "echo work > /workspace/system/mine; mkdir /workspace/system/d")
    refused: list[Callable[[], object]] = [
        lambda: sandbox.delete("/workspace/system"),
        lambda: sandbox.rename("/workspace/system", "/workspace/system/d/x"),
        lambda: sandbox.rename("/workspace/system", "/workspace/other"),
        lambda: sandbox.rename("/workspace/system/mine", "/workspace/deliverables/mine"),
        lambda: sandbox.rename("/workspace/system/d", "/workspace/system/d/below"),
    ]
    for act in refused:
        with pytest.raises(SandboxFileProblem):
            act()
    assert shell(sandbox, "cat /workspace/system/mine") == "work\n"
