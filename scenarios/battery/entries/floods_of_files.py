"""Floods its storage with bytes and with inodes: /dev/shm, /tmp, home and system/, in the workspace and in a call."""

import errno
import os

MAY_FAIL = ("exit",)
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENFILE)
PLACES = ("/dev/shm", "/tmp", "/home/engineer", "/workspace/system")


def inodes(folder):
    made = 0
    os.mkdir(folder)
    try:
        for made in range(10**7):
            os.close(os.open(f"{folder}/{made}", os.O_CREAT | os.O_WRONLY))
    except OSError as problem:
        if problem.errno not in FULL:
            raise
    return made


def fill(path):
    written = 0
    with open(path, "wb", buffering=0) as file:
        try:
            while True:
                written += file.write(b"\1" * (4 << 20))
        except OSError as problem:
            if problem.errno not in FULL:
                raise
    return written


def flood(bypass, places):
    import shutil

    for place in places:
        bypass.did(f"inodes of {place}")
        bypass.attempt(f"inodes of {place} without end", lambda place=place: inodes(f"{place}/many") > 5_000_000)
        shutil.rmtree(f"{place}/many")
        bypass.attempt(f"bytes of {place} without end", lambda place=place: fill(f"{place}/full") > 4 << 30)
        os.unlink(f"{place}/full")


def in_workspace(bypass):
    flood(bypass, PLACES)
    fill("/tmp/stays_full")
    fill("/dev/shm/stays_full")


def before_call(bypass):
    """The disk is left full from the second call on: what the system writes is lost, and that is its own loss."""
    if bypass.once("flood"):
        flood(bypass, PLACES)
    elif bypass.once("stays"):
        bypass.did("stays full")
        fill("/dev/shm/stays_full")
