"""Burns processor time in children and threads that are gone before anybody counts, deaf to the limit's own signal."""

import os
import signal
import time

FAILS = ("cpu_limit", "wall_limit")
SLOW = True


def burn(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def before_call(bypass):
    if bypass.once():
        bypass.did("burnt")
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        while True:
            child = os.fork()
            if child == 0:
                try:
                    if os.fork() == 0:
                        burn(0.3)
                    burn(0.3)
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
