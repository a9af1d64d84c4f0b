"""Allowances in the database: together no more than there is, written down exactly once, and an audit that adds up."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from fdegym.delivery.audit import CHECKS
from fdegym.delivery.evidence import read_evidence
from fdegym.gateway import audit, metering
from fdegym.gateway.accounts import use_of_grade
from fdegym.gateway.metering import Reserved, Spent, Usage
from fdegym.gateway.models import Account, Call
from fdegym.gateway.problems import GatewayProblem
from fdegym.gateway.use import use_of_events, use_of_record
from fdegym.runs import log
from fdegym.runs.models import Run, RunState


def account_of(run: Run | None, **fields: Any) -> Account:
    values = {"name": str(run.id) if run else "g-0123abcd-1-1", "scenario_id": "oil_npt", "release": "0" * 64}
    return Account.objects.create(run=run, **{**values, "most_tokens": 1000, **fields})


def spend(account: Account, *, tokens: tuple[int, int] | None = (9, 3), outcome: str = "answered") -> None:
    reserved = Reserved(50, 50, 1000)
    metering.reserve(account, reserved)
    usage = None if tokens is None else Usage(*tokens, nano=sum(tokens) * 2)
    metering.settle(account, reserved, Spent("a" * 64, "small", outcome, usage, 5))


def pairs(run: Run) -> list[Any]:
    return [(event.kind, event.payload) for event in log.events(run.id)]


@pytest.mark.django_db(transaction=True)
def test_many_hosts_that_reserve_at_once_get_together_no_more_than_there_is(make_run: Any, alice: Any) -> None:
    account = account_of(make_run(alice))

    def reserve(_: int) -> bool:
        try:
            metering.reserve(account, Reserved(30, 40, 0))
        except GatewayProblem:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as hosts:
        granted = sum(hosts.map(reserve, range(40)))
    account.refresh_from_db()
    assert granted == 1000 // 70
    assert account.reserved_tokens == granted * 70


@pytest.mark.django_db
def test_money_is_a_cap_of_its_own(make_run: Any, alice: Any) -> None:
    account = account_of(make_run(alice), most_nano=1500)
    metering.reserve(account, Reserved(1, 1, 1000))
    with pytest.raises(GatewayProblem, match="allowance of money") as refused:
        metering.reserve(account, Reserved(1, 1, 501))
    assert refused.value.code == "allowance_spent"
    metering.reserve(account, Reserved(1, 1, 500))


@pytest.mark.django_db
@pytest.mark.parametrize("state", [state for state in RunState if state != RunState.OPEN])
def test_only_an_open_run_can_ask(make_run: Any, alice: Any, state: RunState) -> None:
    account = account_of(make_run(alice, state=state))
    with pytest.raises(GatewayProblem) as refused:
        metering.reserve(account, Reserved(1, 1, 0))
    assert refused.value.code == "run_over"


@pytest.mark.django_db
def test_a_call_whose_usage_nobody_told_is_charged_what_was_set_aside(make_run: Any, alice: Any) -> None:
    run = make_run(alice)
    account = account_of(run)
    spend(account, tokens=None)
    account.refresh_from_db()
    assert (account.spent_tokens, account.spent_nano, account.reserved_tokens) == (100, 1000, 0)
    assert log.events(run.id)[-1].payload["estimated"]


@pytest.mark.django_db
def test_what_was_interrupted_is_charged_once(make_run: Any, alice: Any) -> None:
    run = make_run(alice)
    account = account_of(run)
    metering.reserve(account, Reserved(70, 30, 500))
    assert metering.settle_interrupted(account)
    assert not metering.settle_interrupted(account)
    account.refresh_from_db()
    assert (account.spent_tokens, account.reserved_tokens, account.calls) == (100, 0, 1)
    assert audit.miscounted_work(run, pairs(run)) == ""


@pytest.mark.django_db
def test_a_refusal_is_counted_and_its_first_is_an_event(make_run: Any, alice: Any) -> None:
    run = make_run(alice)
    account = account_of(run)
    for code in ("allowance_spent", "invalid_json", "allowance_spent"):
        metering.note_refusal(account, code)
    account.refresh_from_db()
    assert account.refused == {"allowance_spent": 2, "invalid_json": 1}
    assert [event.payload["code"] for event in log.events(run.id)] == ["allowance_spent", "invalid_json"]


@pytest.mark.django_db
@pytest.mark.parametrize("edited", [{"calls": 3}, {"spent_tokens": 1}, {"spent_nano": 1}])
def test_an_audit_finds_an_allowance_that_is_not_what_the_log_adds_up_to(
    make_run: Any, alice: Any, edited: dict[str, int]
) -> None:
    run = make_run(alice)
    account = account_of(run)
    assert CHECKS["model use"](read_evidence(run.id)) == "No language model was asked."
    spend(account)
    spend(account, outcome="provider_timeout", tokens=None)
    assert audit.miscounted_work(run, pairs(run)) == ""
    assert CHECKS["model use"](read_evidence(run.id)).startswith("2 calls during work, 112 tokens")
    Account.objects.filter(pk=account.pk).update(**edited)
    assert "add up to" in audit.miscounted_work(run, pairs(run))
    account.delete()
    assert "no allowance was charged" in audit.miscounted_work(run, pairs(run))


@pytest.mark.django_db
def test_an_audit_finds_a_grades_record_that_is_not_the_sum_of_its_calls() -> None:
    account = account_of(None)
    spend(account)
    spend(account)
    record = use_of_grade(account.name)
    assert record["prompt_tokens"] == 18
    assert audit.miscounted_grading(record) == ""
    assert audit.miscounted_grading(None) == ""
    assert "its record says 19" in audit.miscounted_grading({**record, "prompt_tokens": 19})
    Call.objects.first().delete()  # type: ignore[union-attr]
    assert "come to 1 (calls)" in audit.miscounted_grading(record)
    account.delete()
    assert "are gone" in audit.miscounted_grading(record)


def test_what_calls_came_to_is_told_with_its_currency() -> None:
    called = {
        "outcome": "answered",
        "prompt_tokens": 1000,
        "completion_tokens": 500,
        "nano": 450_000,
        "currency": "EUR",
    }
    use = use_of_events([("gateway.called", called), ("contact.message", {}), ("gateway.called", called)])
    assert (use.calls, use.tokens, use.money) == (2, 3000, "0.0009 EUR")
    assert use_of_events([("gateway.called", {**called, "nano": 5})]).money == "below 0.0001 EUR"
    assert not use_of_events([])
    assert not use_of_record(None)
