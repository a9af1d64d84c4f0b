"""To get rights: by programs that change the user, by namespaces of its own, by mounting."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import select
import stat
import struct
import subprocess
import time
from collections.abc import Callable

from tests.isolation.programs.attempt import HOST, NAMESPACE, Facts, any_of, attempt, beginning_of, call, checked, libc

NAMESPACES = {"user": 0x10000000, "mount": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000}
NAMESPACES |= {"uts": 0x4000000, "cgroup": 0x2000000, "time": 0x80}
MS_RDONLY, MS_REMOUNT, MS_BIND, MS_MOVE, MS_REC = 1, 32, 4096, 8192, 16384
AT_FDCWD, OPEN_TREE_CLONE, MNT_DETACH = -100, 1, 2
PROGRAMS = ("/usr/bin", "/usr/sbin", "/usr/lib/openssh", "/usr/lib/dbus-1.0", "/usr/libexec", "/usr/lib/polkit-1")
CAPABILITIES_VERSION, EVERY_CAPABILITY = 0x20080522, 0xFFFFFFFF
PATIENT_S = 30.0


# setuid


@attempt("setuid", HOST)
def run_programs_that_change_the_user(facts: Facts) -> str | None:
    """Run every program with a setuid or setgid mark; the loader says whether the mark had an effect."""
    for folder in PROGRAMS:
        with contextlib.suppress(OSError):
            for entry in os.scandir(folder):
                if entry.is_file(follow_symlinks=False) and entry.stat().st_mode & (stat.S_ISUID | stat.S_ISGID):
                    said = first_words([entry.path, "--help"])
                    if b"AT_EUID" not in said:  # the loader tells nothing to a program that gained rights
                        return f"{entry.path} gained rights"
    return None


def first_words(command: list[str]) -> bytes:
    """What the loader and the program print first; some then wait a while, to annoy whoever guesses."""
    with subprocess.Popen(
        command, env={"LD_SHOW_AUXV": "1"}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdout is not None
        said, deadline = b"", time.monotonic() + PATIENT_S
        while b"AT_EUID" not in said and select.select([child.stdout], [], [], max(0, deadline - time.monotonic()))[0]:
            if not (more := os.read(child.stdout.fileno(), 65536)):
                break
            said += more
        child.kill()
    return said


@attempt("setuid")
def become_root(facts: Facts) -> str | None:
    """Take on the user, the group, the groups of root, and of whoever else, directly."""
    acts = [lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0), lambda: os.setreuid(0, 0), lambda: os.setgroups([0])]
    acts += [lambda: os.setgid(0), lambda: os.setresgid(0, 0, 0), lambda: os.setuid(os.geteuid() + 1)]

    def become(act: Callable[[], object]) -> object:
        try:
            return act() or "another user"
        except OSError as refused:  # of users that its namespace does not know, the kernel says that they are no values
            raise PermissionError(errno.EPERM, "no such user") if refused.errno == errno.EINVAL else refused from None

    return any_of(lambda a=act: become(a) for act in acts)


@attempt("setuid")
def take_capabilities(facts: Facts) -> str | None:
    """Give itself every capability, and give them to a program in a folder of its own."""
    head = struct.pack("=II", CAPABILITIES_VERSION, 0)
    sets = struct.pack("=6I", *[EVERY_CAPABILITY] * 6)
    of_file = struct.pack("<I4I", 0x02000001, *[EVERY_CAPABILITY] * 4)

    def marked(folder: str) -> str:
        path = f"{folder}/capable"
        with open(path, "wb"):
            os.setxattr(path, "security.capability", of_file)
        return path

    folders = ("/tmp", "/workspace/system", "/dev/shm")
    return any_of([lambda: checked(libc.capset(head, sets)), *(lambda f=folder: marked(f) for folder in folders)])


@attempt("setuid")
def write_its_own_id_map(facts: Facts) -> str | None:
    """Write the table that says who of its namespace is whom on the host."""

    def mapped(name: str, text: str) -> str:
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)
        return f"{name} was written"

    return any_of(
        lambda n=n, t=t: mapped(n, t)
        for n, t in (("uid_map", "0 0 1\n"), ("gid_map", "0 0 1\n"), ("setgroups", "allow"))
    )


# namespaces within


def child_of(facts: Facts, flags: int) -> str:
    """A child that was made with these flags; it ends at once."""
    pid = call(facts, "clone", flags | 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return f"a child with {flags:#x}"


@attempt("namespaces", HOST)
def make_a_user_namespace(facts: Facts) -> str | None:
    """Become root of a user namespace of its own, where the rarely used parts of the kernel open up."""
    flag = NAMESPACES["user"]
    return any_of([lambda: child_of(facts, flag), lambda: call(facts, "unshare", flag)])


@attempt("namespaces", NAMESPACE)
def make_namespaces_of_the_other_kinds(facts: Facts) -> str | None:
    """Make a namespace of every other kind, by both calls."""
    flags = [flag for name, flag in NAMESPACES.items() if name != "user"]
    return any_of(
        act for f in flags for act in ((lambda f=f: child_of(facts, f)), (lambda f=f: call(facts, "unshare", f)))
    )


@attempt("namespaces", HOST)
def make_a_namespace_by_hidden_flags(facts: Facts) -> str | None:
    """The same by the call whose flags lie in memory, where no filter sees them."""
    arguments = ctypes.create_string_buffer(struct.pack("=8Q", NAMESPACES["user"], 0, 0, 0, 17, 0, 0, 0))

    def made() -> str:
        pid = call(facts, "clone3", ctypes.byref(arguments), 64)
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        return "a user namespace"

    return any_of([made])


@attempt("namespaces")
def enter_namespaces_of_others(facts: Facts) -> str | None:
    """Enter the namespaces of PID 1, and those that descriptors and processes lead to."""

    def entered(path: str) -> str:
        descriptor = os.open(path, os.O_RDONLY)
        checked(libc.setns(descriptor, 0))
        return path

    paths = [f"/proc/{who}/ns/{name}" for who in ("1", "self", "2") for name in ("mnt", "net", "pid", "user", "uts")]
    return any_of([*(lambda p=p: entered(p) for p in paths), lambda: checked(libc.setns(os.pidfd_open(1), 0x20000))])


@attempt("namespaces", HOST)
def make_a_namespace_with_the_systems_own_tools(facts: Facts) -> str | None:
    """Let unshare and bwrap do it, if they are there."""
    for command in (["unshare", "--user", "--map-root-user", "true"], ["bwrap", "--dev-bind", "/", "/", "true"]):
        with contextlib.suppress(FileNotFoundError):
            if subprocess.run(command, capture_output=True, timeout=10).returncode == 0:
                return f"{command[0]} did it"
    return None


# mounts


def mounted(source: str, target: str, kind: str, flags: int, options: str = "") -> str:
    checked(libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()))
    return f"{kind or source} at {target}"


@attempt("mounts", NAMESPACE)
def mount_a_file_system(facts: Facts) -> str | None:
    """Mount a fresh /proc, /sys, a memory file system without limits, and the control groups."""
    kinds = ("tmpfs", "proc", "sysfs", "devpts", "cgroup2", "cgroup", "mqueue", "devtmpfs", "debugfs", "securityfs")
    return any_of(lambda k=k: mounted(k, "/tmp", k, 0) for k in kinds)


@attempt("mounts", NAMESPACE)
def bind_what_is_hidden(facts: Facts) -> str | None:
    """Show the root, /proc and /dev once more in a folder of its own, without what lies over them."""
    return any_of(
        lambda s=s, f=f: mounted(s, "/tmp", "", MS_BIND | f) for s in ("/", "/proc", "/dev") for f in (0, MS_REC)
    )


@attempt("mounts")
def make_the_system_writable(facts: Facts) -> str | None:
    """Mount what is shown read-only again, for writing."""
    places = ("/", "/usr", facts.shown, "/proc", "/etc/passwd", "/opt/fdegym/launcher/fdegym_launcher")
    return any_of(lambda p=p, f=f: mounted("none", p, "", MS_REMOUNT | f) for p in places for f in (0, MS_BIND))


@attempt("mounts")
def take_away_what_lies_over_proc(facts: Facts) -> str | None:
    """Unmount what hides parts of /proc, and the limits of its own folders."""
    places = ("/proc/kcore", "/proc/kallsyms", "/proc/acpi", "/proc/sys", "/tmp", "/dev/shm", "/usr/local", facts.shown)
    return any_of(lambda p=p, f=f: checked(libc.umount2(p.encode(), f)) for p in places for f in (0, MNT_DETACH))


@attempt("mounts", NAMESPACE)
def mount_by_the_newer_calls(facts: Facts) -> str | None:
    """Mount by the calls that came later, and that older filters do not know."""
    return any_of(
        [
            lambda: call(facts, "fsopen", b"tmpfs", 0),
            lambda: call(facts, "open_tree", AT_FDCWD, b"/", OPEN_TREE_CLONE),
            lambda: call(facts, "move_mount", AT_FDCWD, b"/usr", AT_FDCWD, b"/tmp", 0),
            lambda: call(facts, "fspick", AT_FDCWD, b"/usr", 0),
            lambda: call(facts, "mount_setattr", AT_FDCWD, b"/usr", 0, struct.pack("=4Q", 0, 1, 0, 0), 32),
        ]
    )


@attempt("mounts", NAMESPACE)
def leave_by_a_root_of_its_own(facts: Facts) -> str | None:
    """Change the root to a folder below, keep a descriptor of the one above, and climb out of both."""
    os.makedirs("/tmp/cell", exist_ok=True)
    return any_of([lambda: os.chroot("/tmp/cell"), lambda: call(facts, "pivot_root", b"/tmp", b"/tmp/cell")])


@attempt("mounts")
def mount_by_a_program_that_may(facts: Facts) -> str | None:
    """Ask the system's own helpers that mount for ordinary users."""
    programs = ("fusermount", "fusermount3", "mount", "umount", "ntfs-3g", "pmount")
    commands = [[program, *arguments] for program in programs for arguments in (["-o", "rw", "none", "/tmp"], ["/tmp"])]
    for command in commands:
        with contextlib.suppress(FileNotFoundError, subprocess.TimeoutExpired):
            if subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=5).returncode == 0:
                return f"{command} did it"
    return None


@attempt("mounts")
def escape_by_a_race_of_renames(facts: Facts) -> str | None:
    """Move a folder out from below a process that stands in it, so that ``..`` leads where it should not."""
    os.makedirs("/tmp/a/b/c", exist_ok=True)
    inner = os.open("/tmp/a/b/c", os.O_RDONLY)
    acts = [
        lambda p=p: os.rename(p, f"{p}-away") for p in ("/workspace", "/workspace/system", facts.shown, "/tmp", "/usr")
    ]
    for turn in range(8):
        os.rename("/tmp/a/b", "/tmp/b")
        if os.stat("/" + "../" * turn, dir_fd=inner).st_ino != os.stat("/").st_ino:
            return "a root above the root"
        os.rename("/tmp/b", "/tmp/a/b")
    return any_of([*acts, lambda: beginning_of(f"/proc/self/fd/{inner}/../../../../../..{facts.secrets['plain']}")])
