"""Waiting in the workbench: where it leads far, the site says to which day before any time passes."""

from __future__ import annotations

import json
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.urls import reverse

from fdegym.pages import waiting
from scenarios.kit.format import CalendarConfig
from stakeholders.calendar import Calendar

pytestmark = pytest.mark.django_db
HOURS = {"starts_at": datetime(2026, 10, 5, 8), "utc_offset_minutes": 60, "ask_minutes": 45, "day_price": "0.008"}


@pytest.fixture
def bench(alice: Any, runs_at_bakery: Any, visit: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Alice's open run on Monday 5 October, 08:00; the desk takes every wait."""
    run, browser = runs_at_bakery(alice), visit(alice)
    config = CalendarConfig.model_validate(HOURS | {"opens": "08:00", "closes": "17:00"})
    state = SimpleNamespace(now=datetime(2026, 10, 5, 8), requests={"made": {}})
    waited: list[str] = []

    def wait(run_id: object, until: str, client_id: str) -> dict[str, str]:
        waited.append(until)
        return {"id": client_id}

    def post(**body: Any) -> Any:
        address = reverse("workbench_wait", args=[run.id])
        return browser.post(address, json.dumps({"id": "new"} | body), content_type="application/json")

    monkeypatch.setattr(waiting, "script_of", lambda run: SimpleNamespace(calendar=Calendar(config)))
    monkeypatch.setattr(waiting.people, "run_state", lambda run_id: state)
    monkeypatch.setattr(waiting.people, "wait", wait)
    return SimpleNamespace(post=post, waited=waited)


def test_a_wait_of_more_than_a_working_day_says_where_it_leads_and_is_made_when_confirmed(bench: Any) -> None:
    asked = bench.post(until="Sun 03:00").json()
    assert asked == {"ahead": {"until": "Monday 12 October, 08:00", "working_days": "5"}}
    assert bench.post(until="Tue 08:30").json()["ahead"]["working_days"] == "1.1"
    assert bench.waited == []
    assert bench.post(until="Sun 03:00", confirmed=True).json() == {"reply": {"id": "new"}}
    assert bench.waited == ["Sun 03:00"]


@pytest.mark.parametrize("until", ["3h", "1d", "Tue 08:00"])
def test_a_wait_of_a_working_day_or_less_is_made_at_once(bench: Any, until: str) -> None:
    assert "reply" in bench.post(until=until).json()
    assert bench.waited == [until]


def test_a_wait_sent_again_after_it_was_made_gets_its_reply(bench: Any) -> None:
    """By then "Tue 08:30" would be a week away."""
    assert bench.post(until="Sun 03:00", id="made").json() == {"reply": {"id": "made"}}


def test_a_time_that_cannot_be_read_is_refused_in_words(bench: Any) -> None:
    refused = bench.post(until="soon")
    assert refused.status_code == 422
    assert "A wait is written like 3h" in refused.json()["error"]
    assert bench.waited == []
