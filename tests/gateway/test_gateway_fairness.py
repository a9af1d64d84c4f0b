"""What one run sends does not keep the gateway from answering another."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from fdegym.gateway import metering, served
from fdegym.gateway.bodies import Bodies
from fdegym.gateway.configuration import GatewayConfiguration
from fdegym.gateway.http import HttpRequest
from fdegym.gateway.models import Account
from fdegym.gateway.problems import GatewayProblem
from fdegym.gateway.providers import DisabledProvider
from fdegym.gateway.served import Served, Services


class Answers:
    """In place of a connection: the statuses of what was answered."""

    begun = False

    def __init__(self) -> None:
        self.statuses: list[int] = []

    async def json(self, status: int, body: Any) -> None:
        self.statuses.append(status)

    async def problem(self, problem: GatewayProblem) -> None:
        self.statuses.append(problem.status)


async def test_while_a_body_is_read_others_are_answered_and_only_one_of_a_run_is_read_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_on, beginning, reading, most = threading.Event(), threading.Event(), [0], [0]

    def slowly(body: bytes) -> Any:
        reading[0] += 1
        most[0] = max(most[0], reading[0])
        beginning.set()
        assert read_on.wait(60)
        reading[0] -= 1
        raise GatewayProblem(400, "invalid_request", "long enough")

    monkeypatch.setattr(served, "parse_chat", slowly)
    monkeypatch.setattr(metering, "note_refusal", lambda *_: None)
    services = Services(GatewayConfiguration(), DisabledProvider(), Bodies(None), asyncio.to_thread)
    one, other = (Served(Account(name=name), services) for name in ("one", "other"))
    slow, quick = Answers(), Answers()
    bodies = [
        asyncio.ensure_future(one.handle(HttpRequest("POST", "/v1/chat/completions", b"x"), slow))  # type: ignore[arg-type]
        for _ in range(3)
    ]
    await asyncio.to_thread(beginning.wait, 60)
    await other.handle(HttpRequest("GET", "/v1/models", b""), quick)  # type: ignore[arg-type]
    assert quick.statuses == [200]
    assert slow.statuses == []
    read_on.set()
    await asyncio.gather(*bodies)
    assert slow.statuses == [400, 400, 400]
    assert most == [1]
