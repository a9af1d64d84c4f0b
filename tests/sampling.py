"""Some of many slow cases, others with every change: admission plays them all, a test run a few.

``TEST_EVERYTHING=1 make test`` plays all of them here too.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def sampled(names: Iterable[str], count: int, *, seed: str) -> list[str]:
    """``count`` of the names, chosen by ``seed`` (the content hash of what is tested), in their own order."""
    every = list(names)
    if os.environ.get("TEST_EVERYTHING") == "1":
        return every
    chosen = sorted(every, key=lambda name: hashlib.sha256(f"{seed}\x1f{name}".encode()).digest())[:count]
    return [name for name in every if name in chosen]


def in_turn(name: str, among: Iterable[str], count: int = 1) -> bool:
    """Whether this commit tries the long test ``name``, of some of which each commit tries ``count``."""
    return name in sampled(among, count, seed=commit())


def commit() -> str:
    """The commit under test; empty where there is none, as in an unpacked archive.

    What runs from a copy of the checkout is told it (``ops/run_tests.py``).
    """
    if told := os.environ.get("COMMIT_UNDER_TEST"):
        return told
    command = ["git", "-c", f"safe.directory={ROOT}", "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30, check=False).stdout.strip()
    except OSError:
        return ""
