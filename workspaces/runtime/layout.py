"""What a sandbox sees: the command line that builds its namespaces, file systems and environment.

Two stages. The first makes a user and mount namespace in which an ordinary user may mount, and mounts there memory file
systems bounded in bytes and in inodes; it is trusted and gone before anything else runs. The second, bubblewrap, nests
inside and shows them as the sandbox's writable folders. Measured reasons are in
``ops/decisions/0008-workspace-storage.md``.
"""

from __future__ import annotations

import os
import shlex
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from workspaces.runtime.base import Limits, Mount, SandboxSpec
from workspaces.runtime.errors import SandboxSpecProblem
from workspaces.runtime.limits import ControlGroup

USER, USER_ID, HOME = "engineer", 1000, "/home/engineer"
PYTHON = "/usr/bin/python3"
LAUNCHER_DIRECTORY = Path(__file__).resolve().parent.parent / "launcher"
PATH = "/opt/fdegym/bin:/usr/local/bin:/usr/bin:/bin"
#: read-only parts of the host's /etc that programs need and that tell nothing about the host
ETC_FROM_HOST = (
    "alternatives",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "inputrc",
    "terminfo",
    "vim",
    "magic",
    "mime.types",
)
#: Of the host's kernel and of other people's work (when which device was busy): shown as empty.
MASKED_FILES = (
    "cmdline",
    "diskstats",
    "interrupts",
    "kallsyms",
    "kcore",
    "key-users",
    "keys",
    "kmsg",
    "latency_stats",
    "sched_debug",
    "softirqs",
    "timer_list",
)
MASKED_SYSTEM_FOLDERS = ("/usr/lib/python3/dist-packages", "/usr/src", "/usr/share/doc")
MASKED_FOLDERS = ("acpi", "bus", "driver", "fs", "irq", "scsi")
#: In a machine without memory left, workspaces are ended before the site that serves them all.
FIRST_TO_GO = 500
SHM = "/dev/shm"  # noqa: S108 - a path of the sandbox
SHM_INODES = 1024
PAGE_KIB = 4  #: sizes of memory file systems are whole pages
WATCHES_MAX = {"max_inotify_instances": 16, "max_inotify_watches": 8192}
TERMINALS_MAX = 128  #: of the few thousand that a machine has for all, those that programs inside may open

BASH_RC = """\
# Interactive shells of the workspace.
[ -z "$PS1" ] && return
shopt -s checkwinsize histappend
HISTSIZE=10000
HISTFILESIZE=20000
PS1='\\[\\e[32m\\]\\u@\\h\\[\\e[0m\\]:\\[\\e[34m\\]\\w\\[\\e[0m\\]\\$ '
alias ls='ls --color=auto' ll='ls -l' grep='grep --color=auto'
"""
PROFILE = '[ -n "$BASH_VERSION" ] && [ -r /etc/bash.bashrc ] && . /etc/bash.bashrc\n'


@dataclass(frozen=True, slots=True)
class Places:
    """Directories of the host that belong to one sandbox, and the shared skeleton."""

    storage: Path  #: where the first stage mounts the bounded file systems
    shm: Path
    etc: Path
    local: Path  #: shown as /usr/local
    empty: Path  #: a folder
    nothing: Path  #: a file without content
    terminals: Path  #: where the first stage mounts the sandbox's own terminals


def environment(spec: SandboxSpec) -> dict[str, str]:
    """The whole environment inside: nothing is inherited."""
    return {
        "PATH": PATH,
        "HOME": HOME,
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        **spec.environment,
    }


def writable_directories(spec: SandboxSpec) -> list[str]:
    """Every folder of the sandbox that can be written and is kept, /tmp first (it is not kept)."""
    found = ["/tmp", HOME, *spec.writable]  # noqa: S108 - a path of the sandbox
    for directory in found:
        if (
            not directory.startswith("/")
            or ".." in directory.split("/")
            or directory.rstrip("/") in ("", "/usr", "/etc")
        ):
            raise SandboxSpecProblem(f"{directory!r} cannot be a writable folder of a sandbox.")
    return found


@dataclass(frozen=True, slots=True)
class StorageShare:
    """What one writable folder may hold."""

    kib: int
    inodes: int


def storage_shares(spec: SandboxSpec) -> dict[str, StorageShare]:
    """Each writable folder's part of ``disk_mb`` and ``inodes``: half for the first of ``spec.writable``, which is what
    is worked on, and equal parts of the rest for the others. Together they never hold more than the limits.
    """
    folders = writable_directories(spec)
    total = StorageShare(spec.limits.disk_mb << 10, spec.limits.inodes)
    main = spec.writable[0] if spec.writable else None
    rest = 1 if main is None else 2
    others = (len(folders) - (main is not None)) * rest

    def part(divisor: int) -> StorageShare:
        return StorageShare(total.kib // divisor // PAGE_KIB * PAGE_KIB, total.inodes // divisor)

    return {folder: part(2) if folder == main else part(others) for folder in folders}


def write_skeleton(root: Path) -> None:
    """Make what all sandboxes share: an empty folder, an empty file, and a /usr/local that holds only ``python``."""
    (root / "empty").mkdir(parents=True, exist_ok=True)
    (root / "nothing").touch()
    binaries = root / "local" / "bin"
    binaries.mkdir(parents=True, exist_ok=True)
    link = binaries / "python"
    if not link.is_symlink():
        temporary = binaries / f".python.{os.getpid()}.{threading.get_ident()}"
        temporary.symlink_to(PYTHON)
        temporary.replace(link)


def write_etc(directory: Path, hostname: str, *, uid: int = USER_ID) -> None:
    """The sandbox's own /etc files."""
    directory.mkdir(parents=True, exist_ok=True)
    host = hostname.partition(".")[0]
    texts = {
        "passwd": f"root:x:0:0:root:/root:/usr/sbin/nologin\n{USER}:x:{uid}:{uid}::{HOME}:/bin/bash\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
        "group": f"root:x:0:\ntty:x:5:\n{USER}:x:{uid}:\nnogroup:x:65534:\n",
        "hostname": f"{host}\n",
        "hosts": f"127.0.0.1 localhost {host}\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        "shells": "/bin/sh\n/bin/bash\n",
        "profile": PROFILE,
        "bash.bashrc": BASH_RC,
        "timezone": "Etc/UTC\n",
    }
    for name, text in texts.items():
        (directory / name).write_text(text)


def _system_folders(places: Places) -> list[str]:
    arguments = ["--ro-bind", "/usr", "/usr", "--ro-bind", str(places.local), "/usr/local"]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = Path("/") / name
        if path.is_symlink():
            arguments += ["--symlink", f"usr/{name}", f"/{name}"]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    # what the host's administrator installed for itself is no part of the customer's machine
    for masked in MASKED_SYSTEM_FOLDERS:
        if Path(masked).is_dir():
            arguments += ["--ro-bind", str(places.empty), masked]
    for entry in sorted(places.etc.iterdir()):
        arguments += ["--ro-bind", str(entry), f"/etc/{entry.name}"]
    for name in ETC_FROM_HOST:
        arguments += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return arguments


def checked_mounts(mounts: Sequence[Mount]) -> list[Mount]:
    """In the order in which they must be made. Raises ``SandboxSpecProblem``."""
    for mount in mounts:
        if not mount.target.startswith("/") or ".." in mount.target.split("/"):
            raise SandboxSpecProblem(f"{mount.target!r} is not an absolute path to show something at.")
        if mount.source.is_socket():
            raise SandboxSpecProblem(f"{mount.source} is a socket: show the directory that holds it.")
        if not mount.source.exists():
            raise SandboxSpecProblem(f"{mount.source} does not exist, so it cannot be shown at {mount.target}.")
    return sorted(mounts, key=lambda each: each.target)


def _mounts(mounts: Sequence[Mount]) -> list[str]:
    arguments: list[str] = []
    for mount in checked_mounts(mounts):
        arguments += ["--ro-bind" if mount.read_only else "--bind", str(mount.source.resolve()), mount.target]
    return arguments


def mode_of(directory: str) -> int:
    """The permissions of a writable folder."""
    return 0o1777 if directory == "/tmp" else 0o755  # noqa: S108 - a path of the sandbox


def folder_name(directory: str) -> str:
    """The name of a writable folder inside the sandbox's storage."""
    return directory.strip("/").replace("_", "__").replace("/", "_")


def sandbox_arguments(
    spec: SandboxSpec, places: Places, *, seccomp_fd: int, info_fd: int, new_pid_1: bool
) -> list[str]:
    """The second stage's command line, up to and without the command."""
    arguments = ["bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"]
    arguments += ["--uid", str(USER_ID), "--gid", str(USER_ID), "--hostname", spec.hostname.partition(".")[0][:63]]
    arguments += ["--seccomp", str(seccomp_fd), "--info-fd", str(info_fd), "--clearenv"]
    for name, value in environment(spec).items():
        arguments += ["--setenv", name, value]
    arguments += _system_folders(places)
    arguments += ["--proc", "/proc", "--dev", "/dev", "--bind", str(places.shm), SHM]
    arguments += ["--dev-bind", str(places.terminals), "/dev/pts"]  # instead of bubblewrap's own, which has no limit
    for shown, names in ((places.nothing, MASKED_FILES), (places.empty, MASKED_FOLDERS)):
        for name in names:
            if Path("/proc", name).exists():
                arguments += ["--ro-bind", str(shown), f"/proc/{name}"]
    arguments += ["--dir", "/run", "--dir", "/workspace", "--dir", HOME]
    for directory in writable_directories(spec):
        arguments += ["--bind", str(places.storage / folder_name(directory)), directory]
    arguments += _mounts(spec.mounts)
    # as root the files of /proc/sys belong to the sandbox's user: without this, they could be written
    arguments += ["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"]
    arguments += ["--chdir", "/"]
    if new_pid_1:
        arguments.append("--as-pid-1")
    return arguments


def first_stage(
    spec: SandboxSpec, places: Places, group: ControlGroup, limits: Limits, command: Sequence[str]
) -> list[str]:
    """The whole command line: make the outer namespace, mount the bounded storage, go on with ``command``."""
    shm = shlex.quote(str(places.shm))
    # its own shell may not, where whoever started us is already to go sooner
    lines = ["set -e", f"{{ echo {FIRST_TO_GO} > /proc/self/oom_score_adj; }} 2>/dev/null || :"]
    lines += [f"echo $$ > {shlex.quote(str(file))}" for file in group.entry_files()]
    inner = ["set -e", f"mount -n -t tmpfs -o size={limits.shm_mb}m,nr_inodes={SHM_INODES},mode=1777 shm {shm}"]
    # of a user namespace: else one sandbox could use up what the kernel lets the product's user watch in all of them
    for name, most in WATCHES_MAX.items():
        inner.append(f"{{ echo {most} > /proc/sys/user/{name}; }} 2>/dev/null || :")
    terminals = f"newinstance,ptmxmode=666,mode=620,max={TERMINALS_MAX}"
    inner.append(f"mount -n -t devpts -o {terminals} terminals {shlex.quote(str(places.terminals))}")
    folders = {places.storage / folder_name(directory): directory for directory in writable_directories(spec)}
    lines += ["umask 022", "mkdir -p " + shlex.join(map(str, folders))]
    shares = storage_shares(spec)
    for folder, directory in folders.items():
        bounds = f"size={shares[directory].kib}k,nr_inodes={shares[directory].inodes},mode={mode_of(directory):o}"
        inner.append(f"mount -n -t tmpfs -o {bounds} storage {shlex.quote(str(folder))}")
    inner.append("exec " + shlex.join(command))
    outer = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        "\n".join(inner),
    ]
    lines.append("exec " + shlex.join(outer))
    return ["sh", "-c", "\n".join(lines)]


def launcher_command(settings: Mapping[str, object] | None) -> list[str]:
    """What PID 1 runs inside: the sandbox's Python with the launcher's package, and nothing of the user's.

    Without ``settings`` it takes them, with its descriptors, from the socket of ``launcher.handoff``.
    """
    given = "take()" if settings is None else repr(dict(settings))
    handoff = "from fdegym_launcher.handoff import take; " if settings is None else ""
    code = (
        "import sys; sys.path.insert(0, '/opt/fdegym/launcher'); from fdegym_launcher.main import main; "
        f"{handoff}del sys.path[:2]; main({given})"
    )
    return [PYTHON, "-s", "-B", "-c", code]


def launcher_mount() -> Mount:
    """The launcher's own folder, as the sandbox sees it."""
    return Mount(LAUNCHER_DIRECTORY, "/opt/fdegym/launcher/fdegym_launcher")


def interpreter_mounts(python: Path) -> list[Mount]:
    """What a virtual environment's interpreter needs at its own paths: the environment, and its base installation."""
    mounts = [Mount(python.parent.parent, str(python.parent.parent))]
    base = Path(sys.base_prefix)
    if base != Path("/usr"):
        mounts.append(Mount(base, str(base)))
    return mounts
