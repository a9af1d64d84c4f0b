"""Some of many slow cases, others with every change: admission plays them all, a test run a few.

``TEST_EVERYTHING=1 make test`` plays all of them here too.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable


def sampled(names: Iterable[str], count: int, *, seed: str) -> list[str]:
    """``count`` of the names, chosen by ``seed`` (the content hash of what is tested), in their own order."""
    every = list(names)
    if os.environ.get("TEST_EVERYTHING") == "1":
        return every
    chosen = sorted(every, key=lambda name: hashlib.sha256(f"{seed}\x1f{name}".encode()).digest())[:count]
    return [name for name in every if name in chosen]
