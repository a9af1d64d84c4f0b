"""Whether this host is too busy to give a call its time: asked right after a call ran into its wall clock.

At that moment everything the delivery had started is dead, so that who runs now is somebody else: a delivery cannot
make its own sleep look like our overload, as it could with the load average.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

SAMPLES = 20
INTERVAL_S = 0.01
RUNNABLE_PER_CORE = 2.0


def _runnable() -> int:
    """Processes of the whole host that run or wait for a core, this one not counted."""
    return int(Path("/proc/loadavg").read_text().split()[3].split("/")[0]) - 1


def host_overloaded() -> bool:
    """True when on average more than two processes a core want to run. Takes a fifth of a second."""
    cores = len(os.sched_getaffinity(0))
    total = 0
    for _ in range(SAMPLES):
        total += _runnable()
        time.sleep(INTERVAL_S)
    return total / SAMPLES > RUNNABLE_PER_CORE * cores
