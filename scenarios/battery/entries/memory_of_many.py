"""Takes memory with many processes, each below the limit of one, and in forms that a count may forget."""

import mmap
import os
import time

MAY_FAIL = ("exit", "signal", "memory_limit", "cpu_limit", "wall_limit")
EACH = 48 << 20  #: twice, so that each stays below the limit of one process
MANY = 24


def take():
    """Private pages, shared ones, and pages of a file in memory, all really written."""
    held = [mmap.mmap(-1, EACH, flags=flags) for flags in (mmap.MAP_PRIVATE, mmap.MAP_SHARED)]
    for each in held:
        for place in range(0, EACH, 4096):
            each[place] = 1
    time.sleep(2)


def together():
    """How many of many, all of whom hold their memory at the same time for seconds, came to their end unharmed."""
    taking = []
    for _ in range(MANY):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                take()
                status = 0
            finally:
                os._exit(status)
        taking.append(child)
    unharmed = sum(os.waitpid(child, 0)[1] == 0 for child in taking)
    return unharmed == MANY and f"{MANY} times {2 * EACH >> 20} MB"


def alone():
    held = []
    while True:
        held.append(bytearray(64 << 20))


def before_call(bypass):
    if bypass.once("together"):
        bypass.did("together")
        bypass.attempt("much more than the whole", together)
    elif bypass.once("alone"):
        bypass.did("alone")
        try:
            alone()
        except MemoryError:
            bypass.did("one alone is refused")


def in_workspace(bypass):
    bypass.did("together")
    bypass.attempt("much more than the whole", together)
