"""A hint that a run's log has grown. Only ever a hint: readers ask the log, and ask it anyway every 250 ms."""

from __future__ import annotations

import logging
import uuid

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

logger = logging.getLogger(__name__)


def group(run_id: uuid.UUID | str) -> str:
    return f"run.{run_id}"


def hint(run_id: uuid.UUID | str) -> None:
    """Tell whoever looks at the run to look now. A lost hint loses nothing, so no failure of it may reach the caller."""
    layer = get_channel_layer()  # type: ignore[no-untyped-call]
    if layer is None:
        return
    try:
        async_to_sync(layer.group_send)(group(run_id), {"type": "log.moved"})
    except Exception:  # whatever the broker did, the event is stored and will be read
        logger.debug("hint for run %s was lost", run_id, exc_info=True)
