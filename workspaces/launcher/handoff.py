"""The beginning of a launcher that inherits nothing: a container's first process is handed its descriptors over a socket.

The socket's directory is shown inside, read-only; its other side takes one connection and is gone before anything else
runs in the container.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket

from .wire import PREFIX, receive_exactly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SOCKET = "/opt/fdegym/handoff/handoff.sock"
DESCRIPTORS = ("listening", "stored", "filter", "memory_events")
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
INSTRUCTION_BYTES = 8


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def take(path: str = SOCKET) -> dict[str, Any]:
    """The launcher's settings, with ``stored`` as standard input and the system-call filter in force.

    Raises ``OSError`` where a part is missing or refused: nothing may run without it.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stream:
        stream.connect(path)
        prefix, descriptors, _, _ = socket.recv_fds(stream, PREFIX.size, len(DESCRIPTORS))
        prefix += receive_exactly(stream, PREFIX.size - len(prefix))
        settings: dict[str, Any] = json.loads(receive_exactly(stream, PREFIX.unpack(prefix)[0]))
    given = dict(zip(settings.pop("descriptors"), descriptors, strict=True))
    os.dup2(given["stored"], 0)
    os.close(given["stored"])
    _filter(given["filter"])
    os.environ.clear()  # the container's own has more
    os.environ.update(settings.pop("environment"))
    settings["listening"], settings["memory_events"] = given["listening"], given.get("memory_events")
    return settings


def _filter(descriptor: int) -> None:
    with os.fdopen(descriptor, "rb") as file:
        instructions = ctypes.create_string_buffer(file.read())
    program = _Program((len(instructions) - 1) // INSTRUCTION_BYTES, ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program))):
        if libc.prctl(*arguments):
            raise OSError(ctypes.get_errno(), "the system-call filter was refused")
