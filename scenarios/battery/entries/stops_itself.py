"""Stops itself, and what it started, and waits on what never comes: the call's wall clock must end it."""

import os
import signal

FAILS = ("wall_limit",)
SLOW = True


def before_call(bypass):
    if bypass.once():
        bypass.did("stopped")
        if os.fork() == 0:
            os.kill(os.getpid(), signal.SIGSTOP)
            os._exit(0)
        os.kill(os.getpid(), signal.SIGSTOP)
