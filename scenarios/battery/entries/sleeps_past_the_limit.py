"""Sleeps for longer than a call may last, deaf to every signal it can be deaf to."""

import signal
import time

FAILS = ("wall_limit",)
SLOW = True


def before_call(bypass):
    if bypass.once():
        bypass.did("slept")
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM, signal.SIGXCPU):
            signal.signal(number, signal.SIG_IGN)
        while True:
            time.sleep(3600)
