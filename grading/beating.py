"""Keeping a lease while something long is done: a thread beats, and stops when the lease is lost or it takes too long."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connection

from fdegym.lib import draining

logger = logging.getLogger(__name__)


@contextmanager
def kept_alive(
    beat: Callable[[], bool], what: str, *, hand_back: Callable[[], object], every_s: float, longest_s: float
) -> Iterator[None]:
    """Call ``beat`` every ``every_s`` while the block runs, from a thread with its own connection, until it says False.

    After ``longest_s`` it stops as well: a worker that hangs must not hold its work for ever. A beat that fails is only
    logged: as long as the database is away nobody can take over either.

    A worker that was told to stop and has had its time calls ``hand_back`` instead, and leaves (``fdegym.lib.draining``).
    """
    stop = threading.Event()
    last = time.monotonic() + longest_s

    def beat_on() -> None:
        try:
            while not stop.wait(every_s):
                if time.monotonic() > last:
                    logger.error("%s takes longer than %.0f s", what, longest_s)
                    return
                try:
                    if draining.is_over():
                        hand_back()
                        logger.warning("this worker was told to stop and hands %s back", what)
                        draining.leave()
                        return
                    if not beat():
                        return
                except Exception:
                    logger.warning("a heartbeat of %s failed", what, exc_info=True)
        finally:
            connection.close()

    thread = threading.Thread(target=beat_on, name=f"heartbeat of {what}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
