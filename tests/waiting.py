"""Waiting for what must come, patiently: a busy machine is no failure."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")


def until(
    look: Callable[[], Found], what: str | Callable[[], str], *, within_s: float = 30.0, every_s: float = 0.1
) -> Found:
    """What ``look`` finds, as soon as it finds something; asks again and again, and fails with the words of ``what``."""
    deadline = time.monotonic() + within_s
    while True:
        if found := look():
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within_s:.0f} s: {what() if callable(what) else what}")
        time.sleep(every_s)
