"""Whoever watches a run learns that its log has grown, whatever became of the hint; all are asked for at once."""

from __future__ import annotations

import asyncio

import pytest
from asgiref.sync import sync_to_async

from fdegym.runs import log, watch

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE_S = 30


@pytest.fixture
def questions(monkeypatch):
    """Of how many runs the log was asked, question by question."""
    asked: list[int] = []
    ends = log.ends

    def counted(run_ids):
        asked.append(len(run_ids))
        return ends(run_ids)

    monkeypatch.setattr(log, "ends", counted)
    return asked


async def come(grown: asyncio.Event) -> None:
    await asyncio.wait_for(grown.wait(), PATIENCE_S)
    grown.clear()


async def test_everybody_who_watches_a_run_learns_of_an_event_and_of_the_next(make_run, alice, bob, questions):
    runs = [await sync_to_async(make_run)(person) for person in (alice, bob)]
    grown = [asyncio.Event() for _ in range(3)]
    with watch.watched(runs[0].id, grown[0]), watch.watched(runs[0].id, grown[1]), watch.watched(runs[1].id, grown[2]):
        for _ in range(2):
            await sync_to_async(log.append)(runs[0].id, "test.event", {})
            await come(grown[0])
            await come(grown[1])
        assert not grown[2].is_set()
        await sync_to_async(log.append)(runs[1].id, "test.event", {})
        await come(grown[2])
    assert set(questions) == {2}


async def test_nobody_watches_and_nothing_is_asked(make_run, alice, questions):
    run = await sync_to_async(make_run)(alice)
    grown = asyncio.Event()
    with watch.watched(run.id, grown):
        await sync_to_async(log.append)(run.id, "test.event", {})
        await come(grown)
    before = len(questions)
    await asyncio.sleep(3 * watch.LOOK_EVERY_S)
    assert len(questions) <= before + 1  # one may have been under way


async def test_a_database_that_is_away_for_a_moment_does_not_end_the_watch(make_run, alice, monkeypatch):
    run = await sync_to_async(make_run)(alice)
    grown, ends, failures = asyncio.Event(), log.ends, iter(range(3))

    def away_at_first(run_ids):
        if next(failures, None) is not None:
            raise OSError("the database is away")
        return ends(run_ids)

    monkeypatch.setattr(log, "ends", away_at_first)
    with watch.watched(run.id, grown):
        await sync_to_async(log.append)(run.id, "test.event", {})
        await come(grown)
