"""Hands in files whose names bite: control characters, no text at all, paths upward, depth, options, markup."""

import os
from pathlib import Path

NAMES = [
    b"new\nline", b"\x1b[2J", b"half\xe2\x94", b"\xff\xfe", b"-rf", b"--checkpoint-action=exec=sh", b"...", b" ", b"~",
    b"$(touch bypass)", b"`id`", b"%00", b"..\\..\\up", b"CON", b"<img src=x onerror=alert(1)>", b"'\"; DROP TABLE runs;--",
    "\u202egnp.exe".encode(), "a\u0301".encode(), b"n" * 255, b"{{7*7}}",
]  # fmt: skip


def in_workspace(bypass):
    folder = os.fsencode("/workspace/system/names")
    os.mkdir(folder)
    for name in NAMES:
        with open(os.path.join(folder, name), "wb") as file:
            file.write(name)
    deep = Path("/workspace/system/deep")
    deep.mkdir()
    os.chdir(deep)
    for _ in range(300):
        os.mkdir("d" * 40)
        os.chdir("d" * 40)
    os.chdir("/")
    bypass.did("named")


def before_call(bypass):
    bypass.attempt("outside of its folder", lambda: [name for name in os.listdir("/workspace") if name != "system"])
    bypass.did("called")
