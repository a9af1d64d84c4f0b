"""Which of the runs that sockets look at have grown: asked once for all of them, not by each for its own.

The log is the only source, and asking it is what finds an event whose hint was lost. Two hundred feeds that each ask
four times a second keep a process busy; one question for all of them does not.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from channels.db import database_sync_to_async

from fdegym.runs import log

logger = logging.getLogger(__name__)
LOOK_EVERY_S = 0.25


class Watch:
    """Of one event loop. It looks while anybody watches."""

    def __init__(self) -> None:
        self._watching: dict[uuid.UUID, list[asyncio.Event]] = {}
        self._known: dict[uuid.UUID, int] = {}
        self._looking: asyncio.Task[None] | None = None

    def begin(self, run_id: uuid.UUID, grown: asyncio.Event) -> None:
        self._watching.setdefault(run_id, []).append(grown)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())

    def end(self, run_id: uuid.UUID, grown: asyncio.Event) -> None:
        self._watching[run_id].remove(grown)
        if not self._watching[run_id]:
            del self._watching[run_id]
            self._known.pop(run_id, None)

    async def _look(self) -> None:
        while self._watching:
            await asyncio.sleep(LOOK_EVERY_S)
            try:
                ends = await database_sync_to_async(log.ends)(list(self._watching))
            except Exception:  # a database that is away for a moment must not end the looking for good
                logger.warning("the logs of runs could not be looked at", exc_info=True)
                continue
            for run_id, end in ends.items():
                if self._known.get(run_id) != end and run_id in self._watching:
                    self._known[run_id] = end
                    for grown in self._watching[run_id]:
                        grown.set()


_of_loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Watch] = weakref.WeakKeyDictionary()


@contextmanager
def watched(run_id: uuid.UUID, grown: asyncio.Event) -> Iterator[None]:
    """While the block runs, ``grown`` is set whenever the run's log is longer than when it was looked at last."""
    watch = _of_loops.setdefault(asyncio.get_running_loop(), Watch())
    watch.begin(run_id, grown)
    try:
        yield
    finally:
        watch.end(run_id, grown)
