"""Looks through /proc for other processes: their environment, open files, memory, and the launcher above all."""

import glob
import os


def contents(path):
    with open(path, "rb") as file:
        return file.read(4096)


def strangers():
    """Processes that are neither PID 1 nor descend from it with us: there must be none."""
    told = {}
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with open(path, "rb") as file:
            told[path] = file.read().replace(b"\0", b" ")
    marks = (b"manage.py", b"uvicorn", b"celery", b"workspaces.keeper", b"scenario_host")
    return [line for line in told.values() if any(mark in line for mark in marks)]


def memory_of_pid_1():
    with open("/proc/1/maps") as maps:
        first = next(line for line in maps if " rw" in line)
    with open("/proc/1/mem", "rb") as memory:
        memory.seek(int(first.split("-")[0], 16))
        return memory.read(64)


def in_workspace(bypass):
    for name in ("environ", "maps", "auxv", "syscall", "stack", "wchan_of_nothing"):
        bypass.attempt(f"/proc/1/{name}", contents, f"/proc/1/{name}")
    bypass.attempt("descriptors of PID 1", os.listdir, "/proc/1/fd")
    for link in ("cwd", "root", "exe", "ns/mnt"):
        bypass.attempt(f"/proc/1/{link}", os.readlink, f"/proc/1/{link}")
    bypass.attempt("memory of PID 1", memory_of_pid_1)
    bypass.attempt("processes of the host", strangers)
    for path in ("/dev/mem", "/dev/kmem", "/proc/kcore", "/proc/kmsg", "/dev/kmsg", "/sys/kernel/debug/sched/debug"):
        bypass.attempt(path, contents, path)
    bypass.did("looked")


def before_call(bypass):
    if bypass.once():
        in_workspace(bypass)
