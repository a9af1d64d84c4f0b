"""A system-call filter for sandboxes, assembled by hand as classic BPF for x86-64 and aarch64.

Everything an ordinary program needs stays allowed. Refused is what reaches the kernel's rarely used corners, what
makes namespaces, what touches other processes' memory, memory that no limit counts, and address families that a
network namespace does not contain (a virtual machine's vsock, above all).
"""

from __future__ import annotations

import errno
import os
import platform
import struct
from collections.abc import Iterable

from workspaces.runtime.errors import RuntimeUnusable

ALLOW = 0x7FFF0000
REFUSE = 0x00050000
KILL_PROCESS = 0x80000000
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
OFFSET_NUMBER, OFFSET_ARCHITECTURE, OFFSET_ARGUMENTS = 0, 4, 16
X32_BIT = 0x40000000

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

#: name -> number on (x86-64, aarch64); None: does not exist there. All are refused with EPERM.
REFUSED: dict[str, tuple[int | None, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioperm": (173, None),
    "iopl": (172, None),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lookup_dcookie": (212, 18),
    "mbind": (237, 235),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "msgget": (68, 186),
    "name_to_handle_at": (303, 264),
    "nfsservctl": (180, 42),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "sched_setattr": (314, 274),
    "semget": (64, 190),
    "set_mempolicy": (238, 237),
    "setdomainname": (171, 162),
    "sethostname": (170, 161),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "shmget": (29, 194),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "vhangup": (153, 58),
}
CLONE = (56, 220)
CLONE3 = (435, 435)
SOCKET = (41, 198)
SOCKETPAIR = (53, 199)
IOCTL = (16, 29)
PRLIMIT64 = (302, 261)
SETPRIORITY = (141, 140)
SCHED_SETSCHEDULER = (144, 119)
SCHED_SETPARAM = (142, 118)
SCHED_SETAFFINITY = (203, 122)
PERSONALITY = (135, 92)

NAMESPACE_FLAGS = 0x7E020080  #: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, and NEWTIME
AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16
TIOCSTI, TIOCLINUX = 0x5412, 0x541C


def _instruction(code: int, true: int = 0, false: int = 0, value: int = 0) -> bytes:
    return struct.pack("HBBI", code, true, false, value)


def _refuse(number: int = errno.EPERM) -> bytes:
    return _instruction(RETURN, value=REFUSE | number)


_allow = _instruction(RETURN, value=ALLOW)


def _low_half(argument: int) -> bytes:
    return _instruction(LOAD, value=OFFSET_ARGUMENTS + 8 * argument)


def _when(number: int, body: Iterable[bytes]) -> list[bytes]:
    """Run ``body``, which must end by returning, if the call has this number; otherwise go on."""
    block = list(body)
    return [_instruction(JUMP_EQUAL, 0, len(block), number), *block]


def _argument_among(argument: int, values: tuple[int, ...], then: bytes, otherwise: bytes) -> list[bytes]:
    block = [_low_half(argument)]
    for position, value in enumerate(values):
        block.append(_instruction(JUMP_EQUAL, len(values) - position, 0, value))
    return [*block, otherwise, then]


def filter_program(machine: str | None = None) -> bytes:
    """The program for ``machine`` (default: this one), in the form that the sandboxing tool reads from a descriptor.

    Raises ``RuntimeUnusable`` on other machines; there a sandbox would have no filter, so there is none.
    """
    machine = machine or platform.machine()
    if machine not in ARCHITECTURES:
        raise RuntimeUnusable(f"Sandboxes need x86-64 or aarch64: there is no system-call filter for {machine}.")
    column = list(ARCHITECTURES).index(machine)
    allow, refuse = _allow, _refuse()
    program = [
        _instruction(LOAD, value=OFFSET_ARCHITECTURE),
        _instruction(JUMP_EQUAL, 1, 0, ARCHITECTURES[machine]),
        _instruction(RETURN, value=KILL_PROCESS),
        _instruction(LOAD, value=OFFSET_NUMBER),
    ]
    if machine == "x86_64":
        program += [_instruction(JUMP_AT_LEAST, 0, 1, X32_BIT), _refuse(errno.ENOSYS)]
    for numbers in REFUSED.values():
        number = numbers[column]
        if number is not None:
            program += _when(number, [refuse])
    program += _when(CLONE3[column], [_refuse(errno.ENOSYS)])  # its flags are in memory: glibc falls back to clone
    program += _when(CLONE[column], [_low_half(0), _instruction(JUMP_ANY_BIT, 0, 1, NAMESPACE_FLAGS), refuse, allow])
    families = (AF_UNIX, AF_INET, AF_INET6)
    program += _when(
        SOCKET[column],
        [
            _low_half(0),
            *[_instruction(JUMP_EQUAL, 5 - place, 0, family) for place, family in enumerate(families)],
            _instruction(JUMP_EQUAL, 0, 3, AF_NETLINK),
            _low_half(2),  # of netlink's protocols only routing, which getaddrinfo asks
            _instruction(JUMP_EQUAL, 0, 1, 0),
            allow,
            _refuse(errno.EAFNOSUPPORT),
        ],
    )
    program += _when(SOCKETPAIR[column], _argument_among(0, (AF_UNIX,), allow, _refuse(errno.EAFNOSUPPORT)))
    program += _when(IOCTL[column], _argument_among(1, (TIOCSTI, TIOCLINUX), refuse, allow))
    for own_only in (PRLIMIT64, SCHED_SETSCHEDULER, SCHED_SETPARAM, SCHED_SETAFFINITY):
        program += _when(own_only[column], _argument_among(0, (0,), allow, refuse))  # 0: the caller itself
    own_process = [_low_half(0), _instruction(JUMP_EQUAL, 1, 0, 0), refuse]  # not: all processes of this user
    program += _when(SETPRIORITY[column], [*own_process, *_argument_among(1, (0,), allow, refuse)])
    program += _when(PERSONALITY[column], _argument_among(0, (0, 0xFFFFFFFF), allow, refuse))
    program.append(allow)
    return b"".join(program)


def filter_descriptor() -> int:
    """A descriptor from which the filter is read, from its beginning; the caller owns it."""
    descriptor = os.memfd_create("filter")
    os.write(descriptor, filter_program())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
