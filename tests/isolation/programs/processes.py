"""To see, signal, trace or hinder processes of the host, of neighbours, and the first of its own."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import termios

from tests.isolation.programs.attempt import (
    HOST,
    NEIGHBOUR,
    Facts,
    any_of,
    attempt,
    beginning_of,
    call,
    checked,
    libc,
    opened,
)
from tests.isolation.programs.files import SECRET

PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
RLIMIT_NPROC, SCHED_DEADLINE = 6, 6
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


class Piece(ctypes.Structure):
    """A ``struct iovec``."""

    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def everybody() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit()]


@attempt("processes", HOST)
def see_command_lines_of_the_host(facts: Facts) -> str | None:
    """Find secrets in the command lines of processes, and processes that are not its own."""
    for name in everybody():
        with contextlib.suppress(OSError):
            if found := SECRET.search(beginning_of(f"/proc/{name}/cmdline")):
                return f"{found[0]!r} of process {name}"
    return None


@attempt("processes", HOST)
def find_secrets_in_environments(facts: Facts) -> str | None:
    """Find secrets in the environment of any process, above all in what its own first one was given."""
    for name in everybody():
        with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
            if found := SECRET.search(file.read()):
                return f"{found[0]!r} of process {name}"
    return None


@attempt("processes")
def find_secrets_in_the_memory_it_began_with(facts: Facts) -> str | None:
    """Search its own memory: a step of grading begins as a copy of the process that was started from outside."""
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            area, rights = line.split()[:2]
            begin, end = (int(each, 16) for each in area.split("-"))
            if rights.startswith("rw") and end - begin < 1 << 28:
                with contextlib.suppress(OSError):
                    memory.seek(begin)
                    if found := SECRET.search(memory.read(end - begin)):
                        return f"{found[0]!r} at {begin:#x}"
    return None


@attempt("processes", HOST)
def end_a_process_of_the_host(facts: Facts) -> str | None:
    """Signal a process of the host by its number, and by a descriptor of it."""
    if os.path.exists(f"/proc/{facts.victim}") and os.getpid() != facts.victim:
        os.kill(facts.victim, signal.SIGKILL)
    return any_of([lambda: os.pidfd_open(facts.victim), lambda: os.kill(facts.victim, 0)])


@attempt("processes")
def end_everybody_who_can_be_signalled(facts: Facts) -> str | None:
    """Signal every process that this user may signal: with one user for all, that would be everybody."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, number)
    return None


@attempt("processes")
def end_the_first_process(facts: Facts) -> str | None:
    """Send every signal there is to PID 1 of the sandbox, which everything outside depends on."""
    for number in range(1, 65):
        with contextlib.suppress(OSError):
            os.kill(1, number)
    return None


@attempt("processes", HOST)
def trace_the_first_process(facts: Facts) -> str | None:
    """Take PID 1 over with ptrace: it holds the socket by which it is commanded."""
    target = facts.first_process
    return any_of(
        lambda r=request: checked(libc.ptrace(r, target, None, None)) for request in (PTRACE_SEIZE, PTRACE_ATTACH)
    )


@attempt("processes", HOST)
def read_memory_of_the_first_process(facts: Facts) -> str | None:
    """Read and write the memory of PID 1, by its file and by the calls for that."""
    target = facts.first_process
    room = ctypes.create_string_buffer(8)
    here, there = Piece(ctypes.addressof(room), 8), Piece(0x400000, 8)
    pieces = (ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
    acts = [lambda n=name: call(facts, n, target, *pieces) for name in ("process_vm_readv", "process_vm_writev")]
    return any_of(
        [lambda: os.open(f"/proc/{target}/mem", os.O_RDWR), lambda: beginning_of(f"/proc/{target}/maps"), *acts]
    )


@attempt("processes", HOST)
def open_what_belongs_to_the_first_process(facts: Facts) -> str | None:
    """Open or list whatever /proc tells of PID 1 to its own user."""
    target = facts.first_process
    acts = [
        lambda n=n: beginning_of(f"/proc/{target}/{n}") for n in ("auxv", "environ", "exe", "io", "pagemap", "stack")
    ]
    acts += [
        lambda n=n: os.readlink(f"/proc/{target}/{n}").encode() for n in ("cwd", "exe", "root", "ns/net", "ns/user")
    ]
    listings = [
        lambda n=n: os.listdir(f"/proc/{target}/{n}") for n in ("cwd", "fd", "fdinfo", "map_files", "ns", "root")
    ]
    return any_of([*acts, *listings])


@attempt("processes", HOST)
def take_a_descriptor_of_the_first_process(facts: Facts) -> str | None:
    """Have the kernel copy a descriptor of PID 1: its command socket, or a neighbour's terminal."""
    process = os.pidfd_open(facts.first_process)
    return any_of(lambda n=number: call(facts, "pidfd_getfd", process, n, 0) for number in range(12))


@attempt("ptrace", HOST)
def trace_a_child(facts: Facts) -> str | None:
    """Trace a process of its own: whoever can, can change a call after the filter has let it pass."""
    child = os.fork()
    if child == 0:
        signal.pause()
    try:
        return any_of(
            lambda r=request: checked(libc.ptrace(r, child, None, None)) for request in (PTRACE_SEIZE, PTRACE_ATTACH)
        )
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@attempt("processes", HOST)
def take_processors_and_limits_from_the_first_process(facts: Facts) -> str | None:
    """Give PID 1 less: processors, priority, processes, files."""
    target, room = facts.first_process, ctypes.create_string_buffer(64)
    return any_of(
        [
            lambda: call(facts, "prlimit64", target, RLIMIT_NPROC, ctypes.byref(room), 0),
            lambda: os.sched_setaffinity(target, os.sched_getaffinity(0)),
            lambda: call(facts, "sched_setparam", target, ctypes.byref(room)),
            lambda: os.setpriority(os.PRIO_PROCESS, target, 19),
        ]
    )


@attempt("processes")
def slow_down_everybody_of_its_user(facts: Facts) -> str | None:
    """Give the lowest priority to all processes of its user and of its group, which may be more than its own."""
    return any_of(lambda w=which: os.setpriority(w, 0, 19) for which in (os.PRIO_USER, os.PRIO_PGRP))


@attempt("processes")
def take_precedence(facts: Facts) -> str | None:
    """Run before everybody else: by a higher priority, in real time, by a deadline, or at the disk."""
    attributes = ctypes.create_string_buffer(48)
    ctypes.cast(attributes, ctypes.POINTER(ctypes.c_uint32))[0] = 48
    ctypes.cast(attributes, ctypes.POINTER(ctypes.c_uint32))[1] = SCHED_DEADLINE
    acts = [lambda p=p: os.sched_setscheduler(0, p, os.sched_param(1)) for p in (os.SCHED_FIFO, os.SCHED_RR)]
    calls = [("sched_setattr", 0, ctypes.byref(attributes), 0), ("ioprio_set", 1, 0, 1 << 13)]
    return any_of([lambda: os.nice(-5), *acts, *(lambda c=c: call(facts, *c) for c in calls)])


@attempt("processes")
def outlive_the_machines_memory(facts: Facts) -> str | None:
    """Ask to be the last that the kernel ends when memory runs out, so that it ends the site instead."""

    def spared(who: str) -> str:
        with open(f"/proc/{who}/oom_score_adj", "w") as file:
            file.write("-1000")
        return f"{who} is spared"

    return any_of(lambda w=w: spared(w) for w in ("self", "1"))


@attempt("terminals")
def type_into_a_terminal_from_behind(facts: Facts) -> str | None:
    """Put letters into a terminal as if somebody had typed them."""
    _, slave = os.openpty()
    if os.getpid() != os.getsid(0):
        os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    return any_of(lambda r=request: fcntl.ioctl(slave, r, b"x") for request in (TIOCSTI, TIOCLINUX))


@attempt("terminals", NEIGHBOUR)
def open_terminals_of_others(facts: Facts) -> str | None:
    """Open a terminal that somebody else works at, of the host or of a neighbour, and the machine's console."""
    names = [f"/dev/pts/{number}" for number in range(64)]
    names += ["/dev/tty", "/dev/console", "/dev/tty0", "/dev/tty1", "/dev/ttyS0", "/dev/vcs", "/dev/vcsa1"]
    return any_of(lambda n=name: opened(n, os.O_RDWR | os.O_NOCTTY) for name in names)
