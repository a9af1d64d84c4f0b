"""Makes namespaces and mounts of its own, or enters others, to become root or to see more."""

import ctypes
import os
import subprocess

from bypass import in_a_child, syscall

NEW = {"user": 0x10000000, "mount": 0x20000, "network": 0x40000000, "pid": 0x20000000, "cgroup": 0x2000000}
UNSHARE, CLONE3 = {"x86_64": 272, "aarch64": 97}, {"x86_64": 435, "aarch64": 435}
MOUNT, UMOUNT, PIVOT = {"x86_64": 165, "aarch64": 40}, {"x86_64": 166, "aarch64": 39}, {"x86_64": 155, "aarch64": 41}
CHROOT, SETNS = {"x86_64": 161, "aarch64": 51}, {"x86_64": 308, "aarch64": 268}
OPEN_TREE, FSOPEN, MOUNT_SETATTR = ({"x86_64": number, "aarch64": number} for number in (428, 430, 442))


def set_user():
    os.setuid(0)
    return os.getuid() == 0


def entered(kind):
    with open(f"/proc/1/ns/{kind}") as other:
        return syscall(SETNS, other.fileno(), 0) + 1


def set_user_programs():
    """Programs that would run as somebody else: only where this file system honours it."""
    rows = subprocess.run(["find", "/usr", "-perm", "-4000", "-type", "f"], capture_output=True, text=True).stdout
    became = []
    for program in rows.split():
        told = subprocess.run(["grep", "-c", "nosuid", "/proc/self/mountinfo"], capture_output=True, text=True).stdout
        if not int(told or 0):
            became.append(program)
    return became


def no_new_privileges():
    with open("/proc/self/status") as status:
        rows = dict(line.split(":\t", 1) for line in status.read().splitlines() if ":\t" in line)
    return [rows["NoNewPrivs"], rows["CapEff"], rows["Seccomp"]] != ["1", "0000000000000000", "2"]


def in_workspace(bypass):
    for name, flag in NEW.items():
        bypass.attempt(f"unshare {name}", in_a_child, lambda flag=flag: syscall(UNSHARE, flag) + 1)
    bypass.attempt("clone3", in_a_child, lambda: syscall(CLONE3, ctypes.create_string_buffer(88), 88) + 1)
    bypass.attempt("mount", lambda: syscall(MOUNT, b"none", b"/tmp", b"tmpfs", 0, None) + 1)
    bypass.attempt("remount", lambda: syscall(MOUNT, None, b"/workspace/docs", None, 0x1020, None) + 1)
    bypass.attempt("unmount", lambda: syscall(UMOUNT, b"/workspace/system", 2) + 1)
    bypass.attempt("pivot", lambda: syscall(PIVOT, b"/tmp", b"/tmp") + 1)
    bypass.attempt("chroot", lambda: syscall(CHROOT, b"/tmp") + 1)
    bypass.attempt("open_tree", lambda: syscall(OPEN_TREE, -100, b"/", 1) + 1)
    bypass.attempt("fsopen", lambda: syscall(FSOPEN, b"tmpfs", 0) + 1)
    bypass.attempt("mount_setattr", lambda: syscall(MOUNT_SETATTR, -100, b"/", 0, None, 0) + 1)
    for kind in ("mnt", "user", "net", "pid"):
        bypass.attempt(f"enter {kind}", in_a_child, lambda kind=kind: entered(kind))
    bypass.attempt("become root", in_a_child, set_user)
    bypass.attempt("map itself to root", lambda: open("/proc/self/uid_map", "w").write("0 0 1"))
    bypass.attempt("programs of root", set_user_programs)
    bypass.attempt("more rights than none", no_new_privileges)
    for command in (["bwrap", "--ro-bind", "/", "/", "true"], ["unshare", "-Ur", "true"], ["su", "-c", "true"]):
        bypass.attempt(command[0], lambda command=command: subprocess.run(command, capture_output=True).returncode == 0)


def before_call(bypass):
    if bypass.once():
        in_workspace(bypass)
