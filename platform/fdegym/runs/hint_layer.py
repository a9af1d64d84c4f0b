"""The channel layer of a deployment: Redis Pub/Sub, whose absence keeps nobody from looking at a run.

A hint is only ever a hint. So a socket opens without Redis too and shows what the log holds, a little later; only hints
are sent over it, to groups, which is why a socket's own channel needs no subscription.
"""

# channels_redis has no annotations:
# mypy: disallow-untyped-calls=false

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Any

from channels_redis.pubsub import RedisPubSubChannelLayer
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
HINT_S = 0.5  #: a Redis that is well takes less than a millisecond


class HintLayer(RedisPubSubChannelLayer):
    """Receives by group. Sending fails when Redis is away; coming and going does not."""

    async def new_channel(self, prefix: str = "specific.") -> str:
        layer = self._get_layer()
        name = f"{layer.prefix}{prefix}{uuid.uuid4().hex}"
        layer.channels[name] = asyncio.Queue()
        return name

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        """As any layer does it. A Redis that hangs is given up soon: whoever writes a log waits for this."""
        async with asyncio.timeout(HINT_S):
            await self._get_layer().group_send(group, message)

    async def group_add(self, group: str, channel: str) -> None:
        try:
            await self._get_layer().group_add(group, channel)
        except (RedisError, OSError) as away:
            logger.warning("no hints for %s for now: %s", group, away)

    async def group_discard(self, group: str, channel: str) -> None:
        try:
            await self._get_layer().group_discard(group, channel)
        except (RedisError, OSError) as away:
            logger.debug("%s is left without Redis: %s", group, away)
