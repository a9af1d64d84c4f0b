"""Hints over a real Redis: harmless while it is not, and back when it is back (FC-117)."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache.backends.redis import RedisCache

from fdegym.accounts import tickets
from fdegym.lib.errors import ServiceUnavailable
from fdegym.runs import notify
from fdegym.runs.hint_layer import HintLayer
from tests.deployment.servers import Redis


@pytest.fixture
def layer(redis: Redis, monkeypatch: pytest.MonkeyPatch) -> Iterator[HintLayer]:
    """The channel layer of a deployment, in place of the one in memory."""
    made = HintLayer(hosts=[redis.url])
    monkeypatch.setattr(notify, "get_channel_layer", lambda: made)
    yield made
    if redis.process is None:
        redis.start()


async def hinted(run: uuid.UUID) -> None:
    """Hint from another thread, as everything that writes a log does."""
    await asyncio.to_thread(notify.hint, run)


async def test_a_hint_reaches_who_looks_at_the_run_and_nobody_else(layer: HintLayer) -> None:
    run, other = uuid.uuid4(), uuid.uuid4()
    looking, elsewhere = await layer.new_channel(), await layer.new_channel()
    await layer.group_add(notify.group(run), looking)
    await layer.group_add(notify.group(other), elsewhere)
    await hinted(run)
    assert await asyncio.wait_for(layer.receive(looking), 60) == {"type": "log.moved"}
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(layer.receive(elsewhere), 0.3)
    await layer.flush()


async def test_five_hundred_hints_leave_no_connections_behind(layer: HintLayer, redis: Redis) -> None:
    before = len(redis.ask("CLIENT", "LIST").splitlines())
    run = uuid.uuid4()
    await asyncio.to_thread(lambda: [notify.hint(run) for _ in range(500)])
    assert len(redis.ask("CLIENT", "LIST").splitlines()) <= before + 2
    await layer.flush()


async def test_without_redis_a_hint_is_lost_and_with_it_hints_come_again(layer: HintLayer, redis: Redis) -> None:
    run = uuid.uuid4()
    channel = await layer.new_channel()
    await layer.group_add(notify.group(run), channel)
    await asyncio.to_thread(redis.stop)
    for _ in range(3):
        await hinted(run)
    await asyncio.to_thread(redis.start)

    async def hint_again_and_again() -> None:
        while True:
            await hinted(run)
            await asyncio.sleep(0.2)

    hinting = asyncio.create_task(hint_again_and_again())
    assert await asyncio.wait_for(layer.receive(channel), 60) == {"type": "log.moved"}
    hinting.cancel()
    await layer.flush()


async def test_a_socket_opened_without_redis_opens_and_gets_hints_after_redis_is_back(
    layer: HintLayer, redis: Redis
) -> None:
    """Meanwhile it reads the log every 250 ms; and a second one on the same run gets both their hints."""
    run = uuid.uuid4()
    await asyncio.to_thread(redis.stop)
    first = await layer.new_channel()
    await layer.group_add(notify.group(run), first)
    leaving = await layer.new_channel()
    await layer.group_add(notify.group(run), leaving)
    await layer.group_discard(notify.group(run), leaving)
    await asyncio.to_thread(redis.start)
    second = await layer.new_channel()
    await layer.group_add(notify.group(run), second)
    await hinted(run)
    for channel in (first, second):
        assert await asyncio.wait_for(layer.receive(channel), 60) == {"type": "log.moved"}
    await layer.flush()


async def test_a_thousand_viewers_who_come_and_go_with_hints_unread_leave_nothing_behind(
    layer: HintLayer, redis: Redis
) -> None:
    """FC-119: no buffer of a viewer who left stays in the process, nor a subscription at Redis."""
    run = uuid.uuid4()
    for _ in range(20):
        leaving = []
        for _ in range(50):
            channel = await layer.new_channel()
            await layer.group_add(notify.group(run), channel)
            leaving.append((channel, asyncio.create_task(layer.receive(channel))))
        for _ in range(3):
            await hinted(run)
        for channel, receiving in leaving:
            await layer.group_discard(notify.group(run), channel)
            if receiving.done():  # as a consumer does: one message taken, waiting for the next
                receiving = asyncio.create_task(layer.receive(channel))
                await asyncio.sleep(0)
                while receiving.done():
                    receiving = asyncio.create_task(layer.receive(channel))
                    await asyncio.sleep(0)
            receiving.cancel()
            await asyncio.gather(receiving, return_exceptions=True)
    inner = layer._get_layer()
    assert inner.channels == {}
    assert inner.groups == {}
    assert not [line for line in redis.ask("PUBSUB", "CHANNELS").splitlines() if str(run) in line]
    await layer.flush()


def test_without_redis_a_ticket_is_refused_in_words(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tickets, "cache", RedisCache("unix:///nowhere/redis.sock", {}))
    facts = {"socket": "feed", "run_id": "a-run", "user": alice, "session_key": "session"}
    with pytest.raises(ServiceUnavailable, match="what is open goes on"):
        tickets.issue_ticket(**facts)
    with pytest.raises(ServiceUnavailable, match="Try again"):
        tickets.redeem_ticket("x" * 43, **facts)
