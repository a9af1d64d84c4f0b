"""Who starts it, and what the host lends, must not matter: what the other tests cannot try, since they are one user.

Collected only for root, who alone can lend cgroups to others and become them; `make test` as root runs this file before it
gives its rights up. The product never runs as root: started by root, it runs as its own user.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspaces.holders import LENT, lend_groups
from workspaces.runtime.base import Limits
from workspaces.runtime.limits import ControlGroup, ControlGroups, Watcher, find_enforcement

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(900)]
ROOT = Path(__file__).resolve().parents[2]
#: No account of this machine has it: a person's own user looks like this to the product, which asks for no name.
STRANGER = 61_234
OF_LIMITS = ["tests/workspaces/test_limits.py", "tests/isolation/test_exhaustion.py"]
#: Held by file systems, by limits of single processes, or by what terminals can take: the same whoever holds the totals.
NOT_HELD_BY_GROUPS = "flood or watch or open_ or names or of_nothing or wake_up"
OF_WALLS = [
    "tests/workspaces/test_isolation.py",
    "tests/workspaces/test_what_is_seen.py",
    "tests/isolation/test_attempts.py",
]


def passed(result: subprocess.CompletedProcess[str]) -> int:
    """How many tests passed; none may have failed or been skipped."""
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-3000:]
    summary = next(line for line in reversed(result.stdout.splitlines()) if " passed" in line)
    assert "skipped" not in summary
    return int(summary.split(" passed")[0].split()[-1])


@contextlib.contextmanager
def environment(lent: str | None) -> Iterator[dict[str, str]]:
    """With a scratch directory that any user may write to, short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="fwr-", dir="/tmp") as scratch:
        Path(scratch).chmod(0o1777)
        own = {"HOME": scratch, "TMPDIR": scratch, "PYTHONDONTWRITEBYTECODE": "1"}
        yield {**os.environ, **own, **({LENT: lent} if lent else {})}


def test_the_products_user_is_held_by_a_cgroup_where_root_lends_one() -> None:
    """That a watcher holds it, and that it is kept apart, is tried whenever tests run: as this user."""
    user = pwd.getpwnam("fdegym")
    with lend_groups(user.pw_uid, user.pw_gid) as lent, environment(lent) as variables:
        if lent is None:
            pytest.skip("on this machine not even root can lend a cgroup")
        command = [sys.executable, "ops/run_tests.py", "-q", "-k", f"cgroup and not ({NOT_HELD_BY_GROUPS})", *OF_LIMITS]
        result = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
    assert passed(result) > 30


def test_a_user_without_an_account_is_held_and_kept_apart_in_the_same_way() -> None:
    """By watcher: what a cgroup does, it does for every user it was lent to."""
    with environment(None) as variables:
        become = ["setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups"]
        command = [
            *become,
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-n",
            "2",
            "--dist",
            "loadfile",
            "-k",
            "not docker",
        ]
        result = subprocess.run(
            [*command, OF_LIMITS[0], *OF_WALLS], cwd=ROOT, env=variables, capture_output=True, text=True, check=False
        )
    assert passed(result) > 225


# cgroup v2 as far as this kernel has it


@pytest.fixture
def unified() -> Iterator[Path]:
    """The root of the real unified hierarchy, mounted for the test where this machine has it nowhere."""
    for line in Path("/proc/self/mounts").read_text().splitlines():
        _, target, kind, options = line.split()[:4]
        if kind == "cgroup2" and "rw" in options.split(","):
            yield Path(target)
            return
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        tried = subprocess.run(
            ["mount", "-t", "cgroup2", "none", directory], capture_output=True, text=True, check=False
        )
        if tried.returncode:
            # a container that keeps the tree from its root: then nobody can have a group in it, and none is taken
            assert not isinstance(find_enforcement(), ControlGroups) or find_enforcement().version == 1
            pytest.xfail(f"this container keeps cgroup v2 from its root: {tried.stderr.strip()}")
        try:
            yield Path(directory)
        finally:
            subprocess.run(["umount", directory], check=False)


@pytest.fixture
def delegated(unified: Path) -> Iterator[Path]:
    directory = unified / f"delegated-{os.getpid()}"
    directory.mkdir()
    yield directory
    for path in [*(each for each in directory.rglob("*") if each.is_dir()), directory]:
        with contextlib.suppress(OSError):
            path.rmdir()


def test_a_group_of_the_real_tree_is_entered_known_and_ended(delegated: Path) -> None:
    child = subprocess.Popen(["sleep", "600"])
    try:
        group = ControlGroup((delegated,))
        for file in group.entry_files():
            file.write_text(str(child.pid))
        assert group.processes() == {child.pid}
        group.remove()
        assert child.wait(30) == -9
        group.remove()
        assert not delegated.exists()
    finally:
        child.kill()


def test_in_the_real_tree_limits_are_set_where_it_holds_memory_and_left_alone_where_it_does_not(
    unified: Path, delegated: Path, tmp_path: Path
) -> None:
    """Where an older tree has the controllers, the unified one is empty: it must not be taken for one that limits."""
    own = tmp_path / "own"
    own.write_text(f"0::/{delegated.name}\n")
    controllers = set((unified / "cgroup.controllers").read_text().split())
    (tmp_path / "empty").mkdir()
    if {"memory", "pids"} <= controllers:
        (unified / "cgroup.subtree_control").write_text("+memory +pids")
    child = subprocess.Popen(["sleep", "600"])
    try:
        (delegated / "cgroup.procs").write_text(str(child.pid))
        found = find_enforcement(unified, own)
        if {"memory", "pids"} <= controllers:
            assert isinstance(found, ControlGroups)
            assert (delegated / "supervisor" / "cgroup.procs").read_text() == f"{child.pid}\n"
            group = found.create("one", Limits(memory_mb=100, disk_mb=20, shm_mb=8, processes=10))
            assert (group.directories[0] / "memory.max").read_text() == f"{128 << 20}\n"
            assert (group.directories[0] / "pids.max").read_text() == "14\n"
            group.remove()
        else:
            assert isinstance(found, Watcher)
            assert (delegated / "cgroup.procs").read_text() == f"{child.pid}\n", "nobody was moved for nothing"
    finally:
        child.kill()
        child.wait()
