"""What a language model cost stands in the debrief, apart from the score."""

from __future__ import annotations

from typing import Any

from fdegym.runs import log
from tests.site.test_site_outcomes import page

CALLED = {
    "request": "a" * 64,
    "model": "small",
    "outcome": "answered",
    "prompt_tokens": 1200,
    "completion_tokens": 300,
    "nano": 360_000,
    "currency": "USD",
}
GRADING = {
    "account": "g-0123abcd-1-1",
    "calls": 40,
    "answered": 38,
    "kept": 0,
    "prompt_tokens": 52_000,
    "completion_tokens": 4_000,
    "nano": 10_200_000,
    "currency": "USD",
    "outcomes": {"answered": 38, "provider_refused": 2},
    "refused": {},
}


def test_the_debrief_shows_what_calls_cost_in_work_and_in_grading(alice: Any, graded: Any, visit: Any) -> None:
    run = graded(alice, grade={"replay": {"calls": 365, "model_use": GRADING}})
    log.append(run.id, "gateway.called", CALLED)
    log.append(run.id, "gateway.called", {**CALLED, "outcome": "provider_timeout"})
    log.append(run.id, "gateway.refused", {"code": "allowance_spent"})
    html = page(visit(alice), "debrief", run.id)
    section = html[html.index('id="models"') :].partition("</section>")[0]
    for figure in ("2400", "600", "0.0007 USD", "52000", "4000", "0.0102 USD", "no part of the score"):
        assert figure in section, figure
    assert "The allowance for the language model was spent" in html


def test_who_asked_no_model_reads_nothing_of_one(alice: Any, graded: Any, visit: Any) -> None:
    html = page(visit(alice), "debrief", graded(alice).id)
    assert 'id="models"' not in html
