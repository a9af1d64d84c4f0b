"""What keeps a sandbox apart from the host and from its neighbours, one property a test.

``docs/isolation.md`` names for each property what enforces it, and the test here that fails without it.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import socket
import struct
import subprocess
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


def test_it_sees_its_own_processes_alone(inside: LaunchedSandbox, neighbour: LaunchedSandbox) -> None:
    with_mark = neighbour.exec(["bash", "-c", "sleep 333 >/dev/null 2>&1 & sleep 0.1; ps -eo args"]).stdout.decode()
    assert "sleep 333" in with_mark
    seen = shell(inside, "ps -eo pid,args")
    assert "sleep 333" not in seen
    assert "pytest" not in seen
    assert max(int(line.split()[0]) for line in seen.splitlines()[1:]) < 30_000
    shell(neighbour, "pkill sleep")


def test_it_cannot_make_namespaces(inside: LaunchedSandbox) -> None:
    flags = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000}
    flags |= {"uts": 0x4000000, "cgroup": 0x2000000, "time": 0x80}
    unshare, clone = seccomp.REFUSED["unshare"][COLUMN], seccomp.CLONE[COLUMN]
    each = f"[call({unshare}, f), call({clone}, f | 17, 0, 0, 0, 0)]"
    code = f"{CALL}print(json.dumps([{each} for f in {list(flags.values())}]))"
    assert told(inside, code) == [[EPERM, EPERM]] * len(flags)


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


def test_its_name_is_the_customers_and_stays(inside: LaunchedSandbox) -> None:
    assert shell(inside, "hostname; cat /etc/hostname; uname -n") == "depot\ndepot\ndepot\n"
    assert python(inside, "import socket\ntry: socket.sethostname('x')\nexcept OSError as e: print(e.errno)") == "1\n"


# network


def test_it_has_no_network_but_a_loopback_of_its_own(inside: LaunchedSandbox) -> None:
    code = "import json, socket; print(json.dumps([name for _, name in socket.if_nameindex()]))"
    assert told(inside, code) == ["lo"]
    assert shell(inside, "cat /proc/net/route | tail -n +2") == ""


def test_nothing_that_listens_on_the_host_can_be_reached(inside: LaunchedSandbox) -> None:
    """FC-50."""
    name = f"fdegym-test-{os.getpid()}"
    with socket.socket() as ip4, socket.socket(socket.AF_UNIX) as abstract:
        ip4.bind(("0.0.0.0", 0))
        abstract.bind(f"\0{name}")
        for listening in (ip4, abstract):
            listening.listen()
        port = ip4.getsockname()[1]
        addresses = [("127.0.0.1", port), *((own, port) for own in own_addresses()), ("169.254.169.254", 80)]
        code = (
            "import socket\n"
            f"for address in {addresses!r}:\n"
            "    try: socket.create_connection(address, 2); print('REACHED', address)\n"
            "    except OSError as e: print('no')\n"
            "s = socket.socket(socket.AF_UNIX)\n"
            f"try: s.connect('\\0{name}'); print('REACHED abstract')\n"
            "except OSError: print('no')\n"
        )
        assert python(inside, code) == "no\n" * (len(addresses) + 1)


def own_addresses() -> list[str]:
    """Addresses of this host beyond its loopback, if it has any."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # of a datagram socket: sends nothing
        return [probe.getsockname()[0]]
    return []


def test_abstract_sockets_of_a_neighbour_are_out_of_reach(inside: LaunchedSandbox, neighbour: LaunchedSandbox) -> None:
    serve = "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('\\0meet'); s.listen(); "
    serve += "print('on', flush=True); time.sleep(99)"
    shell(neighbour, f'python -c "{serve}" > /tmp/on 2>&1 & until grep -q on /tmp/on; do sleep 0.05; done')
    ask = "import socket\ntry: socket.socket(socket.AF_UNIX).connect('\\0meet'); print('met')\n"
    ask += "except OSError: print('no')"
    assert python(neighbour, ask) == "met\n"
    assert python(inside, ask) == "no\n"
    shell(neighbour, "pkill python; rm /tmp/on")


def test_of_all_socket_families_only_four_exist(inside: LaunchedSandbox) -> None:
    """AF_VSOCK reaches a virtual machine's host, AF_PACKET a wire: no network namespace holds the former."""
    code = (
        "import itertools, json, socket\nfound = set()\n"
        "for family, kind, protocol in itertools.product(range(64), (1, 2, 3, 5), (0, 9, 15, 16)):\n"
        "    try: socket.socket(family, kind, protocol).close()\n    except OSError: continue\n"
        "    found.add((family, protocol if family == 16 else 0))\n"
        "print(json.dumps(sorted(found)))"
    )
    assert told(inside, code) == [[1, 0], [2, 0], [10, 0], [16, 0]]


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


def test_programs_that_change_the_user_do_not(inside: LaunchedSandbox, shared_runtime: LauncherRuntime) -> None:
    """They are there, the system's own su and mount; every file system ignores their mark. An image of ours has none."""
    if shared_runtime.name == "docker":
        assert shell(inside, "find / -xdev -perm /6000 -type f 2>/dev/null; true") == ""
        return
    mounts = shell(inside, "cat /proc/self/mounts").splitlines()
    assert [line for line in mounts if "nosuid" not in line.split()[3].split(",")] == []
    if Path("/usr/bin/su").exists():
        assert shell(inside, "stat -c %a /usr/bin/su") == "4755\n"
        assert inside.exec(["su", "-c", "id -u"], stdin=b"\n").stdout != b"0\n"


def test_the_filter_is_in_force(inside: LaunchedSandbox) -> None:
    assert shell(inside, "grep ^Seccomp: /proc/self/status") == "Seccomp:\t2\n"
    assert shell(inside, "grep ^Seccomp: /proc/1/status") == "Seccomp:\t2\n"


@pytest.mark.parametrize("name", sorted(seccomp.REFUSED))
def test_the_kernel_refuses_this_call(inside: LaunchedSandbox, name: str) -> None:
    number = seccomp.REFUSED[name][COLUMN]
    if number is None:
        assert platform.machine() == "aarch64", "every call of the list exists on x86-64"
        return
    assert told(inside, f"{CALL}print(call({number}, -1, -1, -1, -1, -1, -1))") == EPERM


def test_calls_that_hide_their_flags_are_said_not_to_exist(inside: LaunchedSandbox) -> None:
    """Then the C library takes the older call, whose flags the filter can read."""
    assert told(inside, f"{CALL}print(call({seccomp.CLONE3[COLUMN]}, -1, -1))") == ENOSYS


def test_only_its_own_process_can_be_given_limits_and_priorities(inside: LaunchedSandbox) -> None:
    others = {
        "prlimit64": (seccomp.PRLIMIT64[COLUMN], 1, 7, 0, 0),
        "sched_setscheduler": (seccomp.SCHED_SETSCHEDULER[COLUMN], 1, 0, 0),
        "sched_setparam": (seccomp.SCHED_SETPARAM[COLUMN], 1, 0),
        "sched_setaffinity": (seccomp.SCHED_SETAFFINITY[COLUMN], 1, 8, 0),
        "setpriority of a process": (seccomp.SETPRIORITY[COLUMN], 0, 1, 19),
        "setpriority of a group": (seccomp.SETPRIORITY[COLUMN], 1, 0, 19),
        "setpriority of a user": (seccomp.SETPRIORITY[COLUMN], 2, 0, 19),
    }
    code = f"{CALL}print(json.dumps({{name: call(*numbers) for name, numbers in {others!r}.items()}}))"
    assert told(inside, code) == dict.fromkeys(others, EPERM)
    assert told(inside, f"{CALL}print(call({seccomp.SETPRIORITY[COLUMN]}, 0, 0, 19))") == 0


def test_it_cannot_take_precedence(inside: LaunchedSandbox) -> None:
    code = (
        "import json, os, resource\nsaid = []\n"
        "for act in (lambda: os.nice(-1), lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),\n"
        "            lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))):\n"
        "    try: act(); said.append('done')\n    except PermissionError: said.append('no')\nprint(json.dumps(said))"
    )
    assert told(inside, code) == ["no", "no", "no"]


def test_the_machines_memory_is_taken_from_workspaces_first(inside: LaunchedSandbox) -> None:
    own = int(Path("/proc/self/oom_score_adj").read_text())
    for who in ("self", "1"):
        assert int(shell(inside, f"cat /proc/{who}/oom_score_adj")) == max(own, layout.FIRST_TO_GO)
    assert inside.exec(["bash", "-c", "echo -1000 > /proc/self/oom_score_adj"]).exit_status != 0


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


@pytest.mark.parametrize("request_number", [seccomp.TIOCSTI, seccomp.TIOCLINUX])
def test_nothing_can_be_typed_into_a_terminal_from_behind(inside: LaunchedSandbox, request_number: int) -> None:
    """Not even into its own: into that of another the kernel alone lets nobody type."""
    code = "import fcntl, os, termios\nm, s = os.openpty()\nfcntl.ioctl(s, termios.TIOCSCTTY, 0)\n"
    code += f"try: fcntl.ioctl(s, {request_number}, b'x'); print('typed')\nexcept OSError as e: print(e.errno)"
    assert python(inside, code) == "1\n"


def test_a_command_has_no_terminal(inside: LaunchedSandbox) -> None:
    assert python(inside, "try: open('/dev/tty'); print('has one')\nexcept OSError as e: print(e.errno)") == "6\n"


# PID 1


def test_pid_1_survives_every_signal_from_inside(inside: LaunchedSandbox) -> None:
    shell(inside, "for n in $(seq 1 64); do kill -$n 1; done")
    assert inside.exec(["echo", "alive"]).stdout == b"alive\n"


@pytest.mark.parametrize("name", ["auxv", "cwd", "environ", "exe", "fd", "fdinfo", "maps", "mem", "ns", "root"])
def test_nothing_of_pid_1_can_be_opened(inside: LaunchedSandbox, name: str) -> None:
    look = f"/proc/1/{name}"
    code = (
        f"import os\nlook = '{look}'\n"
        "for act in (os.listdir if os.path.isdir(look) else lambda p: open(p, 'rb').read(1), os.readlink):\n"
        "    try: act(look); print('open')\n    except OSError: print('shut')"
    )
    assert python(inside, code) == "shut\nshut\n"


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


def test_this_file_leaves_nothing_of_its_own_running(shared_runtime: LauncherRuntime) -> None:
    """A sandbox that is destroyed is gone with everything in it."""
    shared_runtime.create("leaving", SandboxSpec())
    shared_runtime.start("leaving").exec(["bash", "-c", "setsid sleep 4321 >/dev/null 2>&1 &"])
    shared_runtime.destroy("leaving")
    assert subprocess.run(["pgrep", "-f", "^sleep 4321$"], capture_output=True, check=False).stdout == b""
