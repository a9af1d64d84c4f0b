"""Puts links, pipes, sockets and folders in the place of its outputs, so that who reads them reads or waits elsewhere."""

import os
import shutil
import socket
import stat

MAY_FAIL = ("exit",)
TARGETS = ("/proc/self/environ", "/proc/1/cmdline", "/dev/zero", "/etc/hostname", "/srv/production", "/proc/kcore")


def before_call(bypass):
    """What the last call left would only stop the program itself: it goes."""
    for folder, _, names in os.walk("."):
        for name in names:
            path = os.path.join(folder, name)
            if not stat.S_ISREG(os.lstat(path).st_mode):
                os.unlink(path)
    bypass.remember()


def after_call(bypass):
    for number, path in enumerate(bypass.outputs()):
        path.unlink()
        kind = number % 5
        if kind == 0:
            path.symlink_to(TARGETS[hash(str(path)) % len(TARGETS)])
        elif kind == 1:
            os.mkfifo(path)
        elif kind == 2:
            path.symlink_to(path.name)
        elif kind == 3:
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(path)[:100])
        else:
            shutil.rmtree(path, ignore_errors=True)
            path.symlink_to(os.path.abspath("README.md"))
        bypass.did(f"kind {kind} for {path.suffix}")
