"""What a sandbox shows of files, devices, environment and kernel, and what of them it lets change: one property a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspaces.inside import python, shell, told
from workspaces.runtime import layout
from workspaces.runtime.base import CallLimits
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.sandbox import LaunchedSandbox

pytestmark = pytest.mark.sandbox


def test_the_root_holds_what_a_customers_machine_needs_and_nothing_else(
    inside: LaunchedSandbox, shared_runtime: LauncherRuntime
) -> None:
    found = set(shell(inside, "ls -A /").split())
    if shared_runtime.name == "docker":  # what Docker puts there, and what every Debian has
        assert shell(inside, "cat /.dockerenv; ls -A /root 2>&1; ls -A /sys") == (
            "ls: cannot open directory '/root': Permission denied\n"
        )
        found -= {".dockerenv", "root", "sys", "var"}
        assert shell(inside, "ls -A /opt; ls -A /run/desk; ls -A /workspace") == "fdegym\ndeliverables\nsystem\n"
        assert set(shell(inside, "ls -A /run").split()) <= {"desk", "gateway", "lock"}
        assert found <= {
            "bin",
            "dev",
            "etc",
            "home",
            "lib",
            "lib64",
            "opt",
            "proc",
            "run",
            "sbin",
            "tmp",
            "usr",
            "workspace",
        }
        return
    system = {name for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32") if Path("/", name).exists()}
    assert found == {"dev", "etc", "home", "opt", "proc", "run", "tmp", "usr", "workspace"} | system
    assert shell(inside, "ls -A /home /opt /run /workspace") == (
        "/home:\nengineer\n\n/opt:\nfdegym\n\n/run:\n\n/workspace:\ndeliverables\nsystem\n"
    )


def test_of_the_hosts_settings_only_named_ones_are_seen(
    inside: LaunchedSandbox, shared_runtime: LauncherRuntime
) -> None:
    own = {entry.name for entry in (shared_runtime.state_dir / "inside" / "etc").iterdir()}
    found = set(shell(inside, "ls -A /etc").split())
    if shared_runtime.name == "bubblewrap":
        assert found - own <= set(layout.ETC_FROM_HOST)
    assert own <= found
    assert "nameserver" not in shell(inside, "cat /etc/resolv.conf")
    assert "hunter2" not in shell(inside, "cat /etc/* 2>/dev/null")
    assert shell(inside, "cut -d: -f1 /etc/passwd") == "root\nengineer\nnobody\n"


def test_what_the_hosts_administrator_installed_is_hidden(
    inside: LaunchedSandbox, shared_runtime: LauncherRuntime
) -> None:
    for folder in layout.MASKED_SYSTEM_FOLDERS if shared_runtime.name == "bubblewrap" else ():
        assert shell(inside, f"ls -A {folder} 2>/dev/null") == "", folder
    if shared_runtime.name == "bubblewrap":  # an image has what it was made from
        assert shell(inside, "ls -A /usr/local /usr/local/bin") == "/usr/local:\nbin\n\n/usr/local/bin:\npython\n"
    for module in ("django", "yaml", "fdegym", "scenarios"):
        assert "No module named" in inside.exec(["python", "-c", f"import {module}"]).stderr.decode()


def test_only_its_own_folders_can_be_written(inside: LaunchedSandbox, shared_runtime: LauncherRuntime) -> None:
    """Of all folders and files, but for the storage, memory, terminals, its own processes' and devices that hold nothing."""
    look = "find / -path /proc -prune -o -path '/dev/pts/*' -prune -o -writable ! -type l -print 2>/dev/null; true"
    found = set(shell(inside, look).split())
    devices = {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty")}
    own = {"/tmp", "/home/engineer", "/workspace/system", "/workspace/deliverables", "/dev/shm"}
    assert found == own | devices | (found & {"/dev/ptmx", "/dev/pts"})  # where the kernel alone makes files
    mounts = [line.split()[1:4] for line in shell(inside, "cat /proc/self/mounts").splitlines()]
    assert {target: kind for target, kind, _ in mounts if target in own} == dict.fromkeys(own, "tmpfs")
    if shared_runtime.name == "bubblewrap":
        writable = {target for target, _, options in mounts if "rw" in options.split(",")}
        assert writable == own | devices | {"/dev/pts"}


def test_there_is_no_sys(inside: LaunchedSandbox) -> None:
    assert shell(inside, "ls -A /sys 2>/dev/null; true") == ""


@pytest.mark.parametrize("name", [*layout.MASKED_FILES, *layout.MASKED_FOLDERS])
def test_proc_does_not_tell_this_of_the_host(inside: LaunchedSandbox, name: str) -> None:
    if not Path("/proc", name).exists():
        assert inside.exec(["ls", f"/proc/{name}"]).exit_status != 0
        return
    assert shell(inside, f"ls -A /proc/{name}; cat /proc/{name}") in (
        f"/proc/{name}\n",
        f"cat: /proc/{name}: Is a directory\n",
    )


def test_devices_are_those_that_every_program_expects(inside: LaunchedSandbox) -> None:
    look = "import os, stat\nfor folder, _, names in os.walk('/dev'):\n"
    look += "    for path in (os.path.join(folder, name) for name in names):\n"
    look += "        mode = os.lstat(path).st_mode\n        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode): print(path)"
    expected = {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty", "pts/ptmx")}
    assert {path for path in python(inside, look).split() if not path.removeprefix("/dev/pts/").isdecimal()} == expected


def test_the_environment_is_exactly_what_was_given(inside: LaunchedSandbox) -> None:
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    found = told(inside, code)
    assert found.pop("PWD", "/") == "/", "bubblewrap says where it begins"
    assert found == layout.environment(inside.spec)
    assert inside.spec.environment == {"GIVEN": "yes"}


def test_no_descriptor_is_inherited(inside: LaunchedSandbox) -> None:
    code = "import json, os; print(json.dumps(sorted(int(n) for n in os.listdir('/proc/self/fd'))[:-1]))"
    assert told(inside, code) == [0, 1, 2]
    inside.put("/workspace/system/descriptors.py", code.encode())
    assert inside.step(["python", "descriptors.py"], limits=CallLimits()).stdout == b"[0, 1, 2]\n"


def test_a_crash_leaves_no_core(inside: LaunchedSandbox) -> None:
    assert shell(inside, "ulimit -Hc") == "0\n"
    said = shell(inside, "cd /tmp; python -c 'import os; os.abort()'; ls /tmp/core* 2>/dev/null; echo")
    assert "core dumped" not in said
