"""How a sandbox is made so that it is apart from the host and from its neighbours, one property a test.

What an attacker makes of it is tried in ``tests/isolation``. ``docs/isolation.md`` names for each property what enforces
it, and what fails without it.
"""

from __future__ import annotations

import json
import platform
import struct
from pathlib import Path

import pytest

from tests.workspaces.inside import python, shell, told
from workspaces.runtime import layout, seccomp
from workspaces.runtime.base import SandboxSpec
from workspaces.runtime.bubblewrap import BubblewrapRuntime
from workspaces.runtime.docker import FIRST_UID
from workspaces.runtime.launched import LauncherRuntime
from workspaces.runtime.sandbox import LaunchedSandbox

pytestmark = pytest.mark.sandbox
CALL = (
    "import ctypes, json, os, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    "def call(*arguments):\n    ctypes.set_errno(0)\n    done = libc.syscall(*map(ctypes.c_long, arguments))\n"
    "    return 0 if done >= 0 else ctypes.get_errno()\n"
)
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
COLUMN = list(seccomp.ARCHITECTURES).index(platform.machine()) if platform.machine() in seccomp.ARCHITECTURES else 0
V2 = Path("/sys/fs/cgroup/cgroup.controllers").exists()


# namespaces


@pytest.mark.parametrize("kind", ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"])
def test_it_has_a_namespace_of_its_own(inside: LaunchedSandbox, shared_runtime: LauncherRuntime, kind: str) -> None:
    """Docker shares the host's user namespace, and has a user id for each sandbox instead."""
    own = shell(inside, f"readlink /proc/self/ns/{kind}").strip()
    assert own.startswith(f"{kind}:[")
    shared = {"user", *(["cgroup"] if not V2 else [])} if shared_runtime.name == "docker" else set()
    assert (own == str(Path(f"/proc/self/ns/{kind}").readlink())) is (kind in shared)


def test_it_knows_one_user_and_that_is_nobody_of_the_host(
    inside: LaunchedSandbox, neighbour: LaunchedSandbox, shared_runtime: LauncherRuntime
) -> None:
    if shared_runtime.name == "docker":
        own, others = (int(shell(each, "id -u; id -g; id -G").split()[0]) for each in (inside, neighbour))
        assert own >= FIRST_UID
        assert own != others
        assert shell(inside, "id -un; whoami; echo $HOME; pwd") == "engineer\nengineer\n/home/engineer\n/workspace\n"
        return
    uid_map, gid_map = (shell(inside, f"cat /proc/self/{name}_map").split() for name in ("uid", "gid"))
    assert (uid_map[0], uid_map[2], gid_map[0], gid_map[2]) == ("1000", "1", "1000", "1")
    assert shell(inside, "cat /proc/self/setgroups") == "deny\n"
    assert shell(inside, "id -un; id -u; id -G; whoami; echo $HOME; pwd") == (
        "engineer\n1000\n1000\nengineer\n/home/engineer\n/workspace\n"
    )
    assert shell(inside, "stat -c %U /usr") == "nobody\n"


def test_it_could_not_make_user_namespaces_without_the_filter_either(
    shared_runtime: LauncherRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow_everything = struct.pack("HBBI", seccomp.RETURN, 0, 0, seccomp.ALLOW)
    monkeypatch.setattr(seccomp, "filter_program", lambda: allow_everything)
    shared_runtime.create("unfiltered", SandboxSpec())
    unfiltered = shared_runtime.start("unfiltered")
    words = "not permitted" if shared_runtime.name == "docker" else "No space left on device"
    assert words in shell(unfiltered, "unshare --user true")
    assert python(unfiltered, "import os; os.close(os.memfd_create('x')); print('no filter')") == "no filter\n"


def test_its_name_is_the_customers(inside: LaunchedSandbox) -> None:
    assert shell(inside, "hostname; cat /etc/hostname; uname -n") == "depot\ndepot\ndepot\n"


# network


def test_it_has_no_network_but_a_loopback_of_its_own(inside: LaunchedSandbox) -> None:
    code = "import json, socket; print(json.dumps([name for _, name in socket.if_nameindex()]))"
    assert told(inside, code) == ["lo"]
    assert shell(inside, "cat /proc/net/route | tail -n +2") == ""


def test_ordinary_programs_find_what_they_need(inside: LaunchedSandbox) -> None:
    """Local sockets, IP, and of netlink the routes, which looking up a name asks for; a lower priority of its own."""
    code = "import os, socket\nfor kind in ((1, 1), (2, 1), (2, 2), (10, 1), (16, 3)): socket.socket(*kind, 0)\n"
    assert (
        python(inside, code + "print(os.nice(1) > 0, os.sched_setaffinity(0, os.sched_getaffinity(0)))")
        == "True None\n"
    )


def test_pairs_of_sockets_are_unix_ones(inside: LaunchedSandbox) -> None:
    number = seccomp.SOCKETPAIR[COLUMN]
    code = f"{CALL}room = (ctypes.c_int * 2)()\n"
    code += f"print(json.dumps([call({number}, f, 1, 0, ctypes.addressof(room)) for f in (1, 2, 16, 30, 40)]))"
    assert told(inside, code) == [0, *[EAFNOSUPPORT] * 4]


# rights


def test_it_has_no_capability_in_any_set(inside: LaunchedSandbox) -> None:
    sets = shell(inside, "grep ^Cap /proc/self/status").split()[1::2]
    assert sets == ["0000000000000000"] * 5


def test_it_can_gain_no_privileges(inside: LaunchedSandbox) -> None:
    assert "NoNewPrivs:\t1" in shell(inside, "grep NoNewPrivs /proc/self/status")


def test_no_file_system_changes_the_user(inside: LaunchedSandbox, shared_runtime: LauncherRuntime) -> None:
    """The system's own su and mount are there, and every file system ignores their mark. An image of ours has none."""
    if shared_runtime.name == "docker":
        assert shell(inside, "find / -xdev -perm /6000 -type f 2>/dev/null; true") == ""
        return
    mounts = shell(inside, "cat /proc/self/mounts").splitlines()
    assert [line for line in mounts if "nosuid" not in line.split()[3].split(",")] == []


def test_the_filter_is_in_force(inside: LaunchedSandbox) -> None:
    assert shell(inside, "grep ^Seccomp: /proc/self/status") == "Seccomp:\t2\n"
    assert shell(inside, "grep ^Seccomp: /proc/1/status") == "Seccomp:\t2\n"


def test_the_kernel_refuses_these_calls(inside: LaunchedSandbox) -> None:
    """Whatever they are asked for."""
    numbers = {name: each[COLUMN] for name, each in seccomp.REFUSED.items() if each[COLUMN] is not None}
    assert len(numbers) == len(seccomp.REFUSED) or platform.machine() == "aarch64"
    code = f"{CALL}print(json.dumps({{name: call(n, -1, -1, -1, -1, -1, -1) for name, n in {numbers!r}.items()}}))"
    assert told(inside, code) == dict.fromkeys(numbers, EPERM)


def test_calls_that_hide_their_flags_are_said_not_to_exist(inside: LaunchedSandbox) -> None:
    """Then the C library takes the older call, whose flags the filter can read."""
    assert told(inside, f"{CALL}print(call({seccomp.CLONE3[COLUMN]}, -1, -1))") == ENOSYS


def test_the_machines_memory_is_taken_from_workspaces_first(inside: LaunchedSandbox) -> None:
    own = int(Path("/proc/self/oom_score_adj").read_text())
    for who in ("self", "1"):
        assert int(shell(inside, f"cat /proc/{who}/oom_score_adj")) == max(own, layout.FIRST_TO_GO)


def test_a_personality_cannot_be_taken_on(inside: LaunchedSandbox) -> None:
    number = seccomp.PERSONALITY[COLUMN]
    assert told(inside, f"{CALL}print(json.dumps([call({number}, p) for p in (0, 0xFFFFFFFF, 0x0040000, 8)]))") == [
        0,
        0,
        EPERM,
        EPERM,
    ]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has further tables of calls")
class TestOtherTables:
    def test_calls_of_the_x32_table_do_not_exist(self, inside: LaunchedSandbox) -> None:
        assert told(inside, f"{CALL}print(call(0x40000000 | 39))") == ENOSYS

    def test_a_call_of_another_architecture_ends_the_process(self, inside: LaunchedSandbox) -> None:
        code = "import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3')\n"
        code += (
            "a = ctypes.addressof(ctypes.c_char.from_buffer(m))\nctypes.CFUNCTYPE(ctypes.c_int)(a)()\nprint('ran')\n"
        )
        result = inside.exec(["python", "-c", code])
        assert b"ran" not in result.stdout
        assert result.exit_status < 0


# terminals


def test_a_command_has_no_terminal(inside: LaunchedSandbox) -> None:
    assert python(inside, "try: open('/dev/tty'); print('has one')\nexcept OSError as e: print(e.errno)") == "6\n"


# PID 1


def test_pid_1_says_nothing_of_where_it_came_from(inside: LaunchedSandbox, shared_runtime: LauncherRuntime) -> None:
    said = shell(inside, "tr '\\0' ' ' < /proc/1/cmdline")
    assert str(shared_runtime.state_dir) not in said
    assert str(layout.LAUNCHER_DIRECTORY) not in said


# trusted helpers


def test_a_trusted_helper_is_kept_apart_in_the_same_way(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FDEGYM_SECRET_KEY", "no helper's business")
    code = (
        "import json, os, socket\n"
        "status = dict(l.split(':\\t') for l in open('/proc/self/status').read().splitlines() if ':\\t' in l)\n"
        "refused = []\n"
        "for family in (40, 17):\n"
        "    try: socket.socket(family, 1)\n    except OSError: refused.append(family)\n"
        "print(json.dumps({'fds': sorted(int(n) for n in os.listdir('/proc/self/fd'))[:3], 'caps': status['CapBnd'],\n"
        "    'filter': status['Seccomp'], 'net': [n for _, n in socket.if_nameindex()], 'refused': refused,\n"
        "    'environment': sorted(os.environ), 'everybody': ''.join(open(f'/proc/{n}/environ').read()\n"
        "        for n in os.listdir('/proc') if n.isdigit()),\n"
        "    'root': os.access('/', os.W_OK), 'etc': os.access('/etc', os.W_OK)}))"
    )
    child = BubblewrapRuntime(state_dir).open_process(
        ["/usr/bin/python3", "-c", code], SandboxSpec(working_directory="/tmp")
    )
    said, _ = child.communicate(timeout=60)
    found = json.loads(said)
    assert (found["caps"], found["filter"], found["net"], found["refused"]) == ("0" * 16, "2", ["lo"], [40, 17])
    assert (found["fds"], found["root"], found["etc"]) == ([0, 1, 2], False, False)
    assert found["environment"] == sorted([*layout.environment(SandboxSpec()), "PWD"])
    assert "FDEGYM" not in found["everybody"]
