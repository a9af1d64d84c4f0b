"""What every attempt is made of. Runs inside a sandbox too: the standard library of its Python alone, 3.10 or later."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

#: Where the same program must succeed, which shows that it could have noticed: on the host as the tests' user, as root of
#: a namespace made there, or in the neighbour's sandbox, whose own what it asks for is.
HOST, NAMESPACE, NEIGHBOUR = "host", "namespace", "neighbour"
NULL_DEVICE = os.makedev(1, 3)
libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Facts:
    """What the attacker was told of the host and of the neighbour, as if by an accomplice there."""

    secrets: dict[str, str] = field(default_factory=dict)  #: name -> path of a file of the host
    sockets: dict[str, str] = field(default_factory=dict)  #: name -> path of a listening socket of the host
    shown: str = ""  #: a folder of the host that is shown; it holds ``file``, which everybody may write on the host
    own_gateway: str = ""  #: a folder of its own with a socket, beside that of another run
    addresses: list[str] = field(default_factory=list)  #: of the host, but its loopback's
    tcp_port: int = 0
    tcp6_port: int = 0
    udp_port: int = 0
    abstract: str = ""
    victim: int = 0  #: a process of the host
    first_process: int = 1  #: whom to attack where the first process of a sandbox stands
    shared_memory: int = 0  #: System V, its id
    posix_memory: str = ""
    neighbour_port: int = 0
    neighbour_abstract: str = ""
    neighbour_file: str = ""  #: name of a file in each of the neighbour's folders
    hunting_ground: str = "/"
    calls: dict[str, int] = field(default_factory=dict)  #: numbers of system calls on this machine


Program = Callable[[Facts], "str | None"]


@dataclass(frozen=True)
class Attempt:
    """``run`` returns in words what it got, or ``None`` where there was nothing, or raises ``OSError``: it was refused."""

    kind: str
    name: str
    tries: str
    run: Program
    control: str | None


ATTEMPTS: dict[str, Attempt] = {}


def attempt(kind: str, control: str | None = None) -> Callable[[Program], Program]:
    """Put a program into the list: its name is the attempt's, the first line of its docstring says what it tries."""

    def enter(run: Program) -> Program:
        name = run.__name__
        assert name not in ATTEMPTS, name
        ATTEMPTS[name] = Attempt(kind, name, (run.__doc__ or "").strip().partition("\n")[0], run, control)
        return run

    return enter


class Refused(OSError):
    """Every act was refused. ``numbers`` are the errors that the kernel gave."""

    def __init__(self, numbers: Iterable[int]) -> None:
        super().__init__("refused")
        self.numbers = set(numbers)


def any_of(acts: Iterable[Callable[..., Any]]) -> str | None:
    """The first of them that is not refused. Raises ``Refused`` where all are."""
    numbers = []
    for act in acts:
        try:
            return f"got {act()!r:.300}"
        except TimeoutError:
            numbers.append(errno.ETIMEDOUT)
        except OSError as refused:
            numbers.append(refused.errno or 0)
    raise Refused(numbers)


def checked(result: int) -> int:
    """The result of a function of the C library, or its error."""
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def call(facts: Facts, name: str, *arguments: Any) -> int:
    """A system call by its number: the C library has no function for some."""
    ctypes.set_errno(0)
    plain = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return checked(int(libc.syscall(ctypes.c_long(facts.calls[name]), *plain)))


def in_every_way(path: str) -> list[str]:
    """A path of the host, and the detours by which it could be reached from inside."""
    detours = (
        "/proc/1/root",
        "/proc/1/cwd",
        "/proc/self/root",
        "/proc/self/cwd",
        "/workspace/shown",
        "/run/gateway",
        "",
    )
    return [path, *(f"{detour}{'/..' * 12}{path}" for detour in detours), f"/proc/1/root{path}"]


def beginning_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(200)


def opened(path: str, flags: int) -> str:
    """The path, if it can be opened and is what it is called: what Docker hides is shown as the null device."""
    descriptor = os.open(path, flags)
    if os.fstat(descriptor).st_rdev == NULL_DEVICE:
        raise FileNotFoundError(errno.ENOENT, path)
    return path
