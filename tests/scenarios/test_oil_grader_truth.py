"""Deliveries that nobody programmed: the truth is worth every hour, luck is worth nothing."""

from __future__ import annotations

from datetime import date

import numpy
import pytest

from scenarios.oil_npt.grader import oracle, random_delivery
from scenarios.oil_npt.grader.books import Books
from scenarios.oil_npt.grader.disputes import JudgedClaim
from scenarios.oil_npt.grader.replay import observe
from scenarios.oil_npt.grader.truth import DecidedHost, claim_files, mails
from tests.sampling import sampled
from tests.scenarios import oil_worlds

SALTS = sampled(["", "another", "a third"], 1, seed=oil_worlds.scenario().release)


@pytest.fixture(scope="module", params=sampled(oil_worlds.TASKS, 2, seed=oil_worlds.scenario().release))
def task(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def judged(task: str, notified: bool) -> list[JudgedClaim]:
    """The claims of somebody who knows the truth, with or without a word to the contractors."""
    production = oil_worlds.production(task)
    books = Books(production)
    sent = mails([credit.stoppage for credit in books.credits], production) if notified else {}
    observed = observe(production, DecidedHost(claim_files(books.credits, production), sent))
    return [claim for month in books.settle(observed).values() for claim in month]


@pytest.mark.parametrize("salt", SALTS)
def test_the_truth_is_released_to_the_last_hour(task: str, salt: str) -> None:
    due_h = Books(oil_worlds.production(task, salt)).due_h
    outcome = oracle(oil_worlds.view(task), oil_worlds.streams(task, salt))
    assert outcome.kpi == pytest.approx(due_h)
    assert due_h > 900
    assert {found.id for found in outcome.incidents} <= {"unapproved_change"}


def test_no_line_of_the_truth_is_disputed_or_unfounded(task: str) -> None:
    claims = judged(task, notified=True)
    assert [claim.reason for claim in claims if claim.reason] == []
    assert sum(claim.unfounded_h for claim in claims) == 0


def test_where_notice_is_required_the_truth_without_it_is_disputed_line_by_line() -> None:
    claims = judged("notice", notified=False)
    assert {line.reason for claim in claims for line in claim.lines} == {"notice"}
    assert sum(claim.unfounded_h for claim in claims) == 0


def test_the_host_of_the_truth_shows_a_month_s_files_once_it_is_closed() -> None:
    claims = {(date(2026, 11, 1), "OK-3"): b"november", (date(2026, 12, 1), "OK-3"): b"december"}
    host = DecidedHost(claims, {date(2026, 11, 3): {"20261103_OK-3.eml": b"To: nobody"}})
    host.call(["python", "-m", "npt.close", "--month", "2026-11", "--db", "x", "--out", "outbox/claims"])
    host.call(["python", "-m", "npt.digest", "--date", "2026-11-03", "--db", "x", "--out", "outbox/mail"])
    assert host.read("outbox/claims/claim_OK-3_202611.csv", 100) == b"november"
    assert host.read("outbox/claims/claim_OK-3_202612.csv", 100) is None
    assert host.read("outbox/claims/claim_OK-3_202611.csv", 3) is None
    assert host.list("outbox/mail", 10) == ["20261103_OK-3.eml"]


def test_luck_is_worth_nothing(task: str) -> None:
    """A tenth of what is due stands for a tenth of the span: what is due is less than the span."""
    view, streams = oil_worlds.view(task), oil_worlds.streams(task)
    rng = numpy.random.default_rng(20261005)
    drawn = [random_delivery(view, streams, rng).kpi for _ in range(8)]
    assert max(drawn) <= 0.1 * Books(oil_worlds.production(task)).due_h
    assert len(set(drawn)) == len(drawn)


def test_the_same_draws_give_the_same_delivery(task: str) -> None:
    view, streams = oil_worlds.view(task), oil_worlds.streams(task)
    first, again = (random_delivery(view, streams, numpy.random.default_rng(7)) for _ in range(2))
    assert first == again
