"""Speaks as the launcher or as its master on every descriptor and socket it inherited or can reach."""

import fcntl
import json
import os
import socket
import stat
import struct


def frame(header):
    text = json.dumps(header).encode()
    return struct.pack("!II", len(text), 0) + text


FRAMES = [
    {"ok": True, "status": 0, "failure": None, "wall_s": 0, "cpu_s": 0, "stdout_bytes": 0, "max_rss_mb": 0},
    {"op": "exit"},
    {"op": "exec", "argv": ["touch", "/tmp/x"], "environment": {}, "working_directory": "/", "timeout_s": 9},
]


def inherited():
    """Descriptors beyond the three streams, but for the one that lists them."""
    found = []
    for number in range(3, 4096):
        try:
            mode = os.fstat(number).st_mode
        except OSError:
            continue
        found.append(f"{number} {oct(stat.S_IFMT(mode))}")
    return found


def control_sockets():
    with open("/proc/net/unix") as table:
        rows = [line.split() for line in table.read().splitlines()[1:]]
    return [row[7] for row in rows if len(row) > 7 and "control" in row[7]]


def in_workspace(bypass):
    bypass.attempt("inherited descriptors", inherited)
    bypass.attempt("the launcher's socket by name", control_sockets)
    for header in FRAMES:
        for stream in (0, 1, 2):
            try:
                os.write(stream, frame(header))
            except OSError:
                continue
    for stream in (0, 1, 2):
        bypass.attempt("a stream that is a socket", lambda stream=stream: stat.S_ISSOCK(os.fstat(stream).st_mode))
        try:
            fcntl.fcntl(stream, fcntl.F_SETFL, os.O_NONBLOCK)
            fcntl.fcntl(stream, 1031, 4096)  # the pipe made as small as it goes
        except OSError:
            continue
    pair = socket.socketpair()
    bypass.attempt("credentials of another", lambda: pair[0].sendmsg([b"x"], [(1, 2, struct.pack("iii", 1, 0, 0))]))
    bypass.did("spoke")


def before_call(bypass):
    in_workspace(bypass)
