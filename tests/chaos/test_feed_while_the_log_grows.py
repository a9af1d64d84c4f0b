"""An event that is logged while the feed looks comes once, whichever of the feed's two looks saw it first."""

from __future__ import annotations

from typing import Any

from fdegym.runs import log
from stakeholders import consumers, services


def test_an_event_logged_between_the_feeds_two_looks_comes_once(alice, make_run, monkeypatch):
    run = make_run(alice)
    log.append(run.id, "contact.message", {"number": 1})
    late = [2]

    def conversation(run_id: Any, after: int = 0) -> list[dict[str, Any]]:
        while late:
            log.append(run_id, "contact.message", {"number": late.pop()})
        return [{"seq": event.seq} for event in log.events(run_id, after)]

    monkeypatch.setattr(services, "conversation", conversation)
    monkeypatch.setattr(services, "customer_clock", lambda _run_id: None)
    feed = consumers.ConversationConsumer()
    feed._run_id = run.id
    news = vars(consumers.ConversationConsumer)["_news"].func
    came, seen, after = [], -1, 0
    for _ in range(3):
        if (frame := news(feed, seen, after)) is not None:
            came += [item["seq"] for item in frame["items"]]
            seen = after = max(after, frame["seq"])
    assert came == [1, 2]
