"""Hands in links instead of files: to the host, to what grading must not see, in circles, hard and soft."""

import os
from pathlib import Path

SYSTEM = Path("/workspace/system")
TARGETS = [
    "/etc/passwd",
    "/proc/1/environ",
    "/proc/self/mem",
    "/dev/zero",
    "/",
    "..",
    ".",
    "/workspace/docs",
    "/srv/app",
]


def in_workspace(bypass):
    folder = SYSTEM / "links"
    folder.mkdir()
    for number, target in enumerate([*TARGETS, *bypass.known["paths"]]):
        (folder / f"to_{number}").symlink_to(target)
    (folder / "round").symlink_to("round")
    (folder / "long").symlink_to("x" * 4000)
    for source in [path for path in SYSTEM.iterdir() if path.is_file()][:5]:
        os.link(source, folder / f"hard_{source.name}")
    os.mkfifo(folder / "pipe")
    bypass.attempt("a device", lambda: os.mknod(folder / "device", 0o20666, os.makedev(1, 1)) or "made")
    bypass.attempt("system as a link", lambda: os.rename(SYSTEM, "/workspace/moved") or "moved")
    bypass.attempt("system as another's", lambda: os.rename("/workspace/docs", SYSTEM / "docs") or "moved")
    bypass.did("linked")


def before_call(bypass):
    held = sorted(os.listdir("links")) if os.path.isdir("links") else []
    bypass.attempt("links that survived", lambda: [name for name in held if os.path.islink(f"links/{name}")])
    bypass.did("called")
