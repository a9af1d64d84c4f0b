"""A fork bomb, in the workspace and in a call: others must not notice, and the call must end."""

import os
import time

MAY_FAIL = ("exit", "signal", "cpu_limit", "memory_limit", "wall_limit")


def bomb(seconds):
    """Every process forks as fast as it can, children too; all end by themselves, should nobody end them."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.fork()
        except OSError:
            time.sleep(0.01)


def burst(bypass):
    if os.fork() == 0:
        try:
            os.setsid()
            bomb(1.5)
        finally:
            os._exit(0)
    time.sleep(2)


def in_workspace(bypass):
    bypass.did("forked")
    burst(bypass)


def before_call(bypass):
    if bypass.once():
        bypass.did("forked")
        burst(bypass)
