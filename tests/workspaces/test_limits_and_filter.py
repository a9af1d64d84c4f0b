"""Who enforces limits on which host, and the system-call filter as a program."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from workspaces.launcher import children
from workspaces.runtime import seccomp
from workspaces.runtime.base import Limits, SandboxSpec
from workspaces.runtime.errors import RuntimeUnusable, SandboxExists, SandboxStartFailed
from workspaces.runtime.fakes import RuntimeThatIsNotInstalled, RuntimeWhoseFirstStartFails
from workspaces.runtime.limits import ControlGroups, Watcher, find_enforcement

ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050001, 0x80000000


def judge(program: bytes, number: int, *arguments: int, architecture: int = seccomp.ARCHITECTURES["x86_64"]) -> int:
    """Run the filter as the kernel would: its verdict on one call."""
    data = struct.pack("<IIQ6Q", number, architecture, 0, *(arguments + (0,) * (6 - len(arguments))))
    instructions = list(struct.iter_unpack("HBBI", program))
    place, accumulator = 0, 0
    while True:
        code, true, false, value = instructions[place]
        place += 1
        if code == seccomp.RETURN:
            return int(value)
        if code == seccomp.LOAD:
            accumulator = struct.unpack_from("<I", data, value)[0]
        else:
            taken = {
                seccomp.JUMP_EQUAL: accumulator == value,
                seccomp.JUMP_AT_LEAST: accumulator >= value,
                seccomp.JUMP_ANY_BIT: bool(accumulator & value),
            }[code]
            place += true if taken else false


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_refused_call_is_refused_and_ordinary_ones_pass(machine: str) -> None:
    column, architecture = list(seccomp.ARCHITECTURES).index(machine), seccomp.ARCHITECTURES[machine]
    program = seccomp.filter_program(machine)

    def verdict(number: int, *arguments: int) -> int:
        return judge(program, number, *arguments, architecture=architecture)

    for name, numbers in seccomp.REFUSED.items():
        if numbers[column] is not None:
            assert verdict(numbers[column]) == REFUSE, name
    ordinary = {"read": (0, 63), "write": (1, 64), "execve": (59, 221), "futex": (202, 98), "getrandom": (318, 278)}
    for name, numbers in ordinary.items():
        assert verdict(numbers[column]) == ALLOW, name
    assert verdict(seccomp.CLONE[column], 17) == ALLOW
    assert verdict(seccomp.CLONE[column], 0x10000000 | 17) == REFUSE, "a new user namespace"
    for family, protocol, expected in ((1, 0, True), (2, 0, True), (10, 0, True), (16, 0, True), (16, 9, False)):
        assert (verdict(seccomp.SOCKET[column], family, 1, protocol) == ALLOW) is expected
    for family in (17, 38, 40):
        assert verdict(seccomp.SOCKET[column], family, 1, 0) != ALLOW
    assert verdict(seccomp.IOCTL[column], 0, 0x5412) == REFUSE
    assert verdict(seccomp.IOCTL[column], 0, 0x5413) == ALLOW
    assert verdict(seccomp.PRLIMIT64[column], 0) == ALLOW
    assert verdict(seccomp.PRLIMIT64[column], 1) == REFUSE
    assert verdict(seccomp.SETPRIORITY[column], 0, 0) == ALLOW
    assert verdict(seccomp.SETPRIORITY[column], 0, 1) == REFUSE
    assert verdict(seccomp.SETPRIORITY[column], 2, 0) == REFUSE
    assert judge(program, 0, architecture=0x40000003) == KILL


def test_calls_of_the_x32_table_are_refused() -> None:
    assert judge(seccomp.filter_program("x86_64"), 0x40000000 | 59) != ALLOW


def test_another_machine_is_not_silently_unfiltered() -> None:
    with pytest.raises(RuntimeUnusable):
        seccomp.filter_program("riscv64")


# cgroups, on trees made of plain files


def unified_tree(root: Path, controllers: str) -> Path:
    base = root / "service"
    base.mkdir()
    (root / "cgroup.controllers").write_text(controllers)
    (base / "cgroup.controllers").write_text(controllers)
    (base / "cgroup.procs").write_text("")
    (base / "cgroup.subtree_control").write_text("")
    own = root / "own"
    own.write_text("0::/service\n")
    return own


def test_a_delegated_group_is_used_and_our_own_processes_make_room(tmp_path: Path) -> None:
    own = unified_tree(tmp_path, "cpu memory pids")
    (tmp_path / "service" / "cgroup.procs").write_text("4242\n")
    found = find_enforcement(tmp_path, own)
    assert isinstance(found, ControlGroups)
    assert found.enforced_by() == {"memory": "cgroup v2", "processes": "cgroup v2"}
    assert (tmp_path / "service" / "supervisor" / "cgroup.procs").read_text() == "4242"
    assert "+memory" in (tmp_path / "service" / "cgroup.subtree_control").read_text()
    group = found.create("run", Limits(memory_mb=100, disk_mb=50, shm_mb=6, processes=10))
    (directory,) = group.directories
    assert int((directory / "memory.max").read_text()) == 156 << 20
    assert int((directory / "pids.max").read_text()) == 14


def test_a_group_without_the_controllers_falls_back_to_the_watcher(tmp_path: Path) -> None:
    assert isinstance(find_enforcement(tmp_path, unified_tree(tmp_path, "cpu")), Watcher)


def test_the_older_tree_is_used_where_it_can_be_written(tmp_path: Path) -> None:
    for controller in ("memory", "pids"):
        (tmp_path / controller).mkdir()
    found = find_enforcement(tmp_path, tmp_path / "none")
    assert isinstance(found, ControlGroups)
    assert found.version == 1
    assert len(found.create("run", Limits()).directories) == 2


def test_the_report_admits_what_nothing_enforces() -> None:
    said = Watcher().enforced_by()
    assert said["memory"] == "watcher"
    assert said["processes"].startswith("none") is (os.geteuid() == 0)


# memory without a cgroup


@pytest.mark.parametrize(
    ("held", "killed"),
    [
        ({10: 50, 11: 40, 12: 30}, [10, 11]),
        ({10: 20, 11: 40}, []),
        ({10: 20, 11: 41}, [11]),
        (dict.fromkeys(range(10, 110), 30), list(range(10, 108))),
    ],
)
def test_of_those_who_hold_too_much_as_many_are_ended_at_one_look_as_it_takes(
    monkeypatch: pytest.MonkeyPatch, held: dict[int, int], killed: list[int]
) -> None:
    """One at each look would let a hundred small programs take the host's memory between two looks."""
    ended: list[int] = []
    monkeypatch.setattr(children, "held_bytes", lambda: dict(held))
    monkeypatch.setattr(children, "proportional_bytes", lambda pid, otherwise: otherwise)
    monkeypatch.setattr(children.os, "kill", lambda pid, number: ended.append(pid))
    assert [pid for pid, _, _ in children.kill_largest_above(60)] == killed == ended


# fakes


def test_a_runtime_whose_first_start_fails_starts_at_the_second_try() -> None:
    runtime = RuntimeWhoseFirstStartFails()
    runtime.create("one", SandboxSpec())
    with pytest.raises(SandboxStartFailed):
        runtime.start("one")
    assert runtime.start("one").state() == "running"
    with pytest.raises(SandboxExists):
        runtime.create("one", SandboxSpec())


def test_a_runtime_that_is_not_installed_says_what_to_install() -> None:
    report = RuntimeThatIsNotInstalled().report()
    assert not report.usable
    assert "install" in (report.problem or "")
