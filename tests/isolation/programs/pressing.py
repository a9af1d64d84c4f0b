"""To use up what all sandboxes of a host share. FC-75, FC-91.

python -m tests.isolation.programs.pressing NAME: goes on until it is ended. What it has met, it writes into ``MET``.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

MET = "/home/engineer/met"
FOLDERS = ("/workspace/system", "/workspace/deliverables", "/home/engineer", "/tmp")
IN_CREATE = 0x100
libc = ctypes.CDLL(None, use_errno=True)


Met = Callable[[], None]
Press = Callable[[Met], None]


@dataclass(frozen=True)
class Pressure:
    """``run`` is given what to call when the limit was met for the first time, and never returns."""

    name: str
    tries: str
    run: Press
    in_a_terminal: bool = False
    only_with_cgroup: bool = False  #: the watcher does not hold it, as docs/isolation.md says


PRESSURES: dict[str, Pressure] = {}


def pressure(**fields: bool) -> Callable[[Press], Press]:
    def enter(run: Press) -> Press:
        PRESSURES[run.__name__] = Pressure(run.__name__, (run.__doc__ or "").partition("\n")[0], run, **fields)
        return run

    return enter


def in_children(work: Callable[[], None], met: Met) -> NoReturn:
    """As many children as may be, each at ``work``; those that are ended, for the memory of all say, are replaced."""
    while True:
        try:
            if os.fork() == 0:
                _ballast = b"x" * (
                    1 << 20
                )  # more than its parent has: it is the child that is ended for the memory of all
                with contextlib.suppress(BaseException):
                    work()
                os._exit(0)
        except OSError:
            met()
            time.sleep(0.001)
        with contextlib.suppress(ChildProcessError):
            if os.waitpid(-1, os.WNOHANG)[1]:
                met()


def for_ever() -> NoReturn:
    while True:
        signal.pause()


@pressure()
def fill_the_table_of_processes(met: Met) -> None:
    """Start processes that do nothing, until none can be started."""
    in_children(for_ever, met)


@pressure()
def fork_without_end(met: Met) -> None:
    """A fork bomb: every process forks as fast as it can."""
    while True:
        try:
            os.fork()
        except OSError:
            met()


@pressure()
def start_threads_without_end(met: Met) -> None:
    """Start threads, which count like processes, until none can be started."""
    threading.stack_size(1 << 16)
    while True:
        try:
            threading.Thread(target=for_ever_in_a_thread, daemon=True).start()
        except RuntimeError:
            met()
            time.sleep(0.001)


def for_ever_in_a_thread() -> None:
    time.sleep(1_000_000)


@pressure()
def burn_every_processor(met: Met) -> None:
    """Keep every processor busy, with a process each and eight more."""
    for _ in range((os.cpu_count() or 1) + 8):
        if os.fork() == 0:
            while True:
                pass
    met()
    for_ever()


@pressure()
def wake_up_without_end(met: Met) -> None:
    """Have timers ring thousands of times a second in many processes."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    for _ in range(12):
        if os.fork() == 0:
            signal.setitimer(signal.ITIMER_REAL, 0.00005, 0.00005)
            for_ever()
    met()
    for_ever()


# memory


def take(area: Callable[[], mmap.mmap]) -> Callable[[], None]:
    """Take pieces and touch every page of them, until ended."""

    def taking() -> None:
        held = []
        while True:
            held.append(area())
            for at in range(0, len(held[-1]), 4096):
                held[-1][at] = 1

    return taking


def in_a_few(work: Callable[[], None], met: Met) -> NoReturn:
    """Eight children at once; ``met`` when one of them was ended by somebody else, or gave up."""
    while True:
        for _ in range(8):
            with contextlib.suppress(OSError):
                if os.fork() == 0:
                    with contextlib.suppress(BaseException):
                        work()
                    os._exit(0)
        with contextlib.suppress(ChildProcessError):
            os.wait()
            met()


@pressure()
def take_memory_in_many_processes(met: Met) -> None:
    """Take memory in eight processes, none of which takes more than a process may; those that are ended begin anew."""
    in_a_few(take(lambda: mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)), met)


@pressure()
def take_memory_that_is_shared(met: Met) -> None:
    """Take memory that processes share by mapping it, which is nobody's own."""
    in_a_few(take(lambda: mmap.mmap(-1, 1 << 20)), met)


@pressure(only_with_cgroup=True)
def take_memory_of_the_kernel(met: Met) -> None:
    """Fill pipes and sockets in many processes: memory that no process holds."""

    def filling() -> None:
        ends = []
        while True:
            try:
                pair = socket.socketpair()
                pair[0].setblocking(False)
                ends.append(pair)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        pair[0].send(bytes(65536))
            except OSError:
                met()
                time.sleep(0.01)

    in_children(filling, met)


# files


@pressure()
def fill_the_storage(met: Met) -> None:
    """Write into all its folders until they are full, delete, and write again."""
    while True:
        for folder in FOLDERS:
            path = f"{folder}/full"
            with contextlib.suppress(OSError), open(path, "wb") as file:
                while True:
                    file.write(bytes(1 << 20))
                    file.flush()
        met()
        for folder in FOLDERS:
            with contextlib.suppress(OSError):
                os.unlink(f"{folder}/full")


@pressure()
def use_up_the_inodes(met: Met) -> None:
    """Make empty files and folders until there are no more, delete, and make them again."""
    while True:
        made = []
        for folder in FOLDERS:
            with contextlib.suppress(OSError):
                for number in range(1_000_000):
                    path = f"{folder}/file-{number}"
                    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
                    made.append(path)
        met()
        for path in made:
            os.unlink(path)


@pressure()
def fill_shared_memory(met: Met) -> None:
    """Fill /dev/shm with bytes, then with files."""
    while True:
        with contextlib.suppress(OSError), open("/dev/shm/full", "wb", 0) as file:
            while file.write(bytes(1 << 20)):
                pass
        os.unlink("/dev/shm/full")
        with contextlib.suppress(OSError):
            for number in range(1_000_000):
                os.close(os.open(f"/dev/shm/{number}", os.O_CREAT | os.O_WRONLY))
        met()
        for name in os.listdir("/dev/shm"):
            os.unlink(f"/dev/shm/{name}")


@pressure()
def grow_a_file_of_nothing(met: Met) -> None:
    """Make a file of holes as large as the largest disk, which costs nothing here and everything where it is copied."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    size = 1 << 20
    with open("/workspace/system/holes", "wb") as file:
        while True:
            try:
                os.truncate(file.fileno(), size)
                size *= 2
            except OSError:
                met()
                size = 1 << 20


@pressure()
def ask_for_names_that_are_not_there(met: Met) -> None:
    """Look up ever new names, each of which the kernel remembers not to exist."""
    number = 0
    while True:
        for _ in range(1000):
            number += 1
            os.path.exists(f"/workspace/system/{'x' * 200}{number}")
        met()


# what has a number


@pressure()
def open_files_without_end(met: Met) -> None:
    """Open as many files as a process may, in as many processes as may be."""

    def opening() -> None:
        with contextlib.suppress(OSError):
            while True:
                os.open("/dev/null", os.O_RDONLY)
        for_ever()

    in_children(opening, met)


@pressure()
def open_terminals_without_end(met: Met) -> None:
    """Open terminals, of which the kernel has some thousands for the whole machine."""

    def opening() -> None:
        while True:
            try:
                os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
            except OSError:
                time.sleep(0.02)

    in_children(opening, met)


@pressure()
def watch_files_without_end(met: Met) -> None:
    """Begin to watch folders, of which the kernel lets each user do so many."""
    held: list[int] = []
    while True:
        descriptor = libc.inotify_init1(0)
        if descriptor < 0:
            os.close(held.pop())
            met()
            time.sleep(0.01)
            continue
        held.append(descriptor)
        for number in range(64):
            folder = f"/tmp/watched-{number}"
            with contextlib.suppress(OSError):
                os.makedirs(folder, exist_ok=True)
            libc.inotify_add_watch(descriptor, folder.encode(), IN_CREATE)


# output


@pressure(in_a_terminal=True)
def flood_the_terminal(met: Met) -> None:
    """Print as fast as the terminal takes it."""
    met()
    line = b"\x1b[31m" + b"flood " * 40 + b"\n"
    while True:
        os.write(1, line * 64)


@pressure()
def flood_the_output_of_a_command(met: Met) -> None:
    """Print both streams of a command without end: what is kept of them lies outside."""
    met()
    while True:
        os.write(1, bytes(65536))
        os.write(2, bytes(65536))


def main(name: str) -> None:
    with open(MET, "wb") as file:  # has its place before there is none
        file.write(b"not yet")

    def met() -> None:
        descriptor = os.open(MET, os.O_WRONLY)
        os.write(descriptor, b"met    ")
        os.close(descriptor)

    while True:  # who presses may be ended for it: then it begins anew, as soon as there is room
        with contextlib.suppress(OSError):
            if os.fork() == 0:
                PRESSURES[name].run(once(met))
        with contextlib.suppress(ChildProcessError):
            os.wait()
        time.sleep(0.01)


def once(act: Callable[[], None]) -> Callable[[], None]:
    done: list[bool] = []

    def acting() -> None:
        if not done:
            with contextlib.suppress(OSError):  # no descriptor is left, say: at the next time
                act()
                done.append(True)

    return acting


if __name__ == "__main__":
    main(*sys.argv[1:])
