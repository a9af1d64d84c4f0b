"""Floods standard output and standard error, and writes what looks like the launcher's own answers on them."""

import json
import os
import struct

ANSWER = json.dumps({"ok": True, "status": 0, "failure": None, "stdout_bytes": 4, "truncated": False}).encode()
FRAME = struct.pack("!II", len(ANSWER), 4) + ANSWER + b"1000"


def before_call(bypass):
    for stream in (1, 2):
        os.write(stream, FRAME)
    if bypass.once():
        for _ in range(400):
            for stream in (1, 2):
                os.write(stream, b"\x1b[2J\0\xff" + b"x" * 65_000)
        bypass.did("flooded")


def in_workspace(bypass):
    for _ in range(200):
        for stream in (1, 2):
            os.write(stream, FRAME + b"\x1b]0;owned\x07" + b"x" * 65_000)
    bypass.did("flooded")
