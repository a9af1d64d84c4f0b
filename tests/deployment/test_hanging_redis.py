"""A Redis that is there and does not answer: worse than one that is gone, because nobody is told."""

from __future__ import annotations

import asyncio
import signal
import uuid

import pytest

from fdegym.runs import notify
from fdegym.runs.hint_layer import HintLayer
from tests.deployment.servers import Redis


async def test_a_redis_that_hangs_keeps_nobody_from_writing_a_log(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FC-117: with a client that would wait for it for ever; hints come again when it goes on."""
    made, run = HintLayer(hosts=[{"address": redis.url, "socket_timeout": None}]), uuid.uuid4()
    monkeypatch.setattr(notify, "get_channel_layer", lambda: made)
    channel = await made.new_channel()
    await made.group_add(notify.group(run), channel)
    await asyncio.to_thread(notify.hint, run)
    assert redis.process is not None
    redis.process.send_signal(signal.SIGSTOP)
    try:
        for _ in range(2):
            await asyncio.wait_for(asyncio.to_thread(notify.hint, run), 60)
    finally:
        redis.process.send_signal(signal.SIGCONT)
    await asyncio.to_thread(notify.hint, run)
    assert await asyncio.wait_for(made.receive(channel), 60) == {"type": "log.moved"}
    await made.flush()
