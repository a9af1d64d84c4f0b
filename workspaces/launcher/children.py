"""Starting processes inside the sandbox, hearing what they print, and ending them with all they started."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import resource
import signal
import struct
import termios
from collections.abc import Callable, Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

PR_SET_DUMPABLE = 4
EXACT_PROCESSES_MAX = 24  #: beyond it, shared pages are counted for each: asking a fork bomb for details stalls
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_libc = ctypes.CDLL(None, use_errno=True)


class Bounds:
    """What one child may use. ``None`` leaves the sandbox's own bound."""

    def __init__(
        self,
        memory_mb: int | None = None,
        processes: int | None = None,
        file_mb: int | None = None,
        open_files: int | None = None,
        cpu_s: float | None = None,
    ) -> None:
        self.memory_mb = memory_mb
        self.processes = processes
        self.file_mb = file_mb
        self.open_files = open_files
        self.cpu_s = cpu_s


def set_dumpable(dumpable: bool) -> None:
    """Undumpable: no process of the same user can trace this one or open its descriptors through /proc."""
    _libc.prctl(PR_SET_DUMPABLE, int(dumpable), 0, 0, 0)


def apply_bounds(bounds: Bounds) -> None:
    """Set the hard and soft limits of the calling process; they hold for all that it starts."""
    pairs: list[tuple[int, float | None, int]] = [
        (resource.RLIMIT_AS, bounds.memory_mb, 1 << 20),
        (resource.RLIMIT_FSIZE, bounds.file_mb, 1 << 20),
        (resource.RLIMIT_NPROC, bounds.processes, 1),
        (resource.RLIMIT_NOFILE, bounds.open_files, 1),
    ]
    for kind, amount, unit in pairs:
        if amount is not None:
            hard = resource.getrlimit(kind)[1]
            wanted = int(amount * unit)
            value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(kind, (value, value))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if bounds.cpu_s is not None:
        soft = max(1, int(-(-bounds.cpu_s // 1)))
        resource.setrlimit(resource.RLIMIT_CPU, (soft, soft + 1))


def become_ordinary() -> None:
    """Undo in a fresh child what only the launcher needs: signal set-up, descriptors, being untraceable."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.closerange(3, 65536)
    set_dumpable(True)


def execute(argv: Sequence[str], environment: Mapping[str, str], working_directory: str, bounds: Bounds) -> NoReturn:
    """Replace the calling child by a command. Ends with the shell's own statuses 126 and 127 when it cannot."""
    status = 127
    try:
        become_ordinary()
        os.chdir(working_directory)
        apply_bounds(bounds)
        os.execvpe(argv[0], list(argv), dict(environment))  # noqa: S606 - the command is the sandbox's own business
    except FileNotFoundError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        status = 126
    finally:
        os._exit(status)


def fork_with_pipes(run: Callable[[], object]) -> tuple[int, int, int, int]:
    """Fork a child in a session of its own that calls ``run`` with its three streams on pipes.

    Returns (pid, stdin, stdout, stderr): the parent's ends, not blocking. ``run`` must not return normally.
    """
    ends = [os.pipe(), os.pipe(), os.pipe()]
    pid = os.fork()
    if pid == 0:
        os.setsid()
        os.dup2(ends[0][0], 0)
        os.dup2(ends[1][1], 1)
        os.dup2(ends[2][1], 2)
        run()
        os._exit(0)
    os.close(ends[0][0])
    os.close(ends[1][1])
    os.close(ends[2][1])
    own = (ends[0][1], ends[1][0], ends[2][0])
    for descriptor in own:
        os.set_blocking(descriptor, False)
    return pid, *own


def set_size(descriptor: int, columns: int, rows: int) -> None:
    """Tell a PTY its size."""
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def fork_on_terminal(columns: int, rows: int, run: Callable[[], object]) -> tuple[int, int, str]:
    """Open a PTY of that size and fork a child that has it as its controlling terminal.

    Returns (pid, master, path of the terminal).
    """
    master, slave = os.openpty()
    path = os.ttyname(slave)
    set_size(master, columns, rows)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for stream in (0, 1, 2):
            os.dup2(slave, stream)
        run()
        os._exit(0)
    os.close(slave)
    return pid, master, path


class Process:
    """A process of the sandbox, as /proc tells of it."""

    __slots__ = ("cpu_s", "resident_bytes", "session", "threads")

    def __init__(self, session: int, cpu_s: float, threads: int, resident_bytes: int) -> None:
        self.session = session
        self.cpu_s = cpu_s
        self.threads = threads
        self.resident_bytes = resident_bytes


def processes() -> dict[int, Process]:
    """All processes of the sandbox but this one, by pid."""
    found = {}
    for pid in _pids():
        try:
            fields = told_by(pid, "stat").rpartition(b")")[2].split()
            cpu_s = (int(fields[11]) + int(fields[12])) / TICKS_PER_S
            found[pid] = Process(int(fields[3]), cpu_s, int(fields[17]), int(fields[21]) * PAGE_BYTES)
        except (OSError, ValueError, IndexError):  # it ended meanwhile
            continue
    return found


def _pids() -> list[int]:
    own = os.getpid()
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != own]  # noqa: PTH208


def told_by(pid: int, name: str) -> bytes:
    """A small file of a process's folder in /proc. Raises ``OSError`` once it has ended."""
    descriptor = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 8192)
    finally:
        os.close(descriptor)


def kill_session(session: int, number: int = signal.SIGKILL) -> None:
    """Signal every process of a session, whatever process groups it made."""
    for pid, process in processes().items():
        if process.session == session or pid == session:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def kill_everything() -> None:
    """End every process but PID 1. One call reaches all at once: a fork bomb cannot outrun it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def held_bytes() -> dict[int, int]:
    """Memory of each process but this one that no file of the disk backs: its own, and what it shares by mapping."""
    found = {}
    for pid in _pids():
        with contextlib.suppress(OSError, ValueError, IndexError):
            found[pid] = _sum_of_lines(told_by(pid, "status"), (b"RssAnon:", b"RssShmem:"))
    return found


def _sum_of_lines(text: bytes, names: tuple[bytes, ...]) -> int:
    """Bytes of these lines of a file of /proc, which counts in kB."""
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(names)) * 1024


def proportional_bytes(pid: int, otherwise: int) -> int:
    """Memory of a process with pages that a fork shares counted once in all; ``otherwise`` if it will not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return _sum_of_lines(told_by(pid, "smaps_rollup"), (b"Pss_Anon:", b"Pss_Shmem:"))
    return otherwise


def name_of(pid: int) -> str:
    """A process's name, fit to be shown: it may choose any bytes."""
    try:
        name = told_by(pid, "comm").decode("ascii", "replace")
    except OSError:
        return "A program"
    return "".join(letter if letter.isalnum() or letter in "._+-" else "?" for letter in name.strip()) or "A program"


def kill_largest_above(limit_bytes: int) -> list[tuple[int, str, int]]:
    """Where all together hold more than ``limit_bytes``, kill the largest until the rest holds less: pid, name, session.

    All of them at once: many that each take a little grow faster than one could be killed at every look.
    """
    held = held_bytes()
    if sum(held.values()) > limit_bytes and len(held) <= EXACT_PROCESSES_MAX:
        held = {pid: proportional_bytes(pid, otherwise) for pid, otherwise in held.items()}
    killed: list[tuple[int, str, int]] = []
    known = processes() if sum(held.values()) > limit_bytes else {}
    while sum(held.values()) > limit_bytes:
        largest = max(held, key=held.__getitem__)
        del held[largest]
        process = known.get(largest)
        killed.append((largest, name_of(largest), process.session if process is not None else 0))
        with contextlib.suppress(ProcessLookupError):
            os.kill(largest, signal.SIGKILL)
    return killed
