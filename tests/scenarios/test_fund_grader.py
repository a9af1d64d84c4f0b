"""fund_recon's grader: what a query is worth, and that nothing written into the outbox can hurt or fool it."""

from __future__ import annotations

import numpy
import pytest

from scenarios.fund_recon.grader import oracle, random_delivery
from scenarios.fund_recon.grader.actions import MAX_ROWS, parse_actions
from scenarios.fund_recon.grader.books import Books
from scenarios.fund_recon.grader.breakdown import fails, shorts
from scenarios.fund_recon.grader.replay import incidents, replay
from scenarios.fund_recon.grader.truth import DecidedHost
from scenarios.fund_recon.world.market import compensated
from scenarios.fund_recon.world.production import Production
from scenarios.fund_recon.world.trades import Trade
from tests.scenarios.fund_worlds import TASKS, actions, chase, production, streams, view

HEADER = b"item_id;kind;ref;action;party;amount;note\n"


@pytest.fixture(scope="module")
def period() -> Production:
    """Its truth only: no morning is opened."""
    return production("original")


@pytest.fixture
def books(period: Production) -> Books:
    return Books(period)


def a_fail(period: Production, reason: str) -> Trade:
    return next(trade for trade in fails(period) if trade.reason == reason and not trade.partial_fail)


# ---- what a query is worth ----


@pytest.mark.parametrize(("reason", "party"), [("CLAC", "BROKER"), ("NMAT", "CUSTODIAN"), ("LACK", "INTERNAL")])
def test_a_fail_is_worth_its_loss_on_the_third_day_with_the_right_party(
    period: Production, reason: str, party: str
) -> None:
    for asked in ("BROKER", "CUSTODIAN", "INTERNAL"):
        books, fail = Books(period), a_fail(period, reason)
        books.enter(fail.isd + 3, actions(chase(fail.trade_id, asked)))
        assert books.kpi * 1000 == pytest.approx(fail.loss if asked == party else -120.0)


def test_an_early_query_uses_the_reference_up(books: Books, period: Production) -> None:
    fail = a_fail(period, "NMAT")
    trades, _ = books.enter(fail.isd + 2, actions(chase(fail.trade_id)))
    later, _ = books.enter(fail.isd + 3, actions(chase(fail.trade_id)))
    assert (trades, later) == ([], [])
    assert [entry.why for entry in books.entries] == ["early", "again"]


def test_queries_on_a_reference_that_was_asked_are_charged_three_times_at_most(
    books: Books, period: Production
) -> None:
    fail = a_fail(period, "NMAT")
    for day in range(fail.isd + 3, fail.isd + 12):
        books.enter(day, actions(chase(fail.trade_id), chase(fail.trade_id, "BROKER")))
    assert books.kpi * 1000 == pytest.approx(fail.loss - 3 * 120)


def test_a_fail_loses_value_by_the_day_and_is_worth_nothing_after_the_last(period: Production) -> None:
    fail = a_fail(period, "NMAT")
    worth = []
    for after in (3, 10, 20, 21):
        books = Books(period)
        books.enter(fail.isd + after, actions(chase(fail.trade_id)))
        worth.append(books.kpi * 1000)
    assert worth == pytest.approx([fail.loss, fail.loss * (1 - 0.85 * 7 / 18), fail.loss * (1 - 0.85 * 17 / 18), -120])


def test_what_does_not_fail_or_does_not_exist_costs_a_query(books: Books, period: Production) -> None:
    fine = next(one for one in period.trades.values() if one.story == "settles" and one.isd >= period.first_graded)
    rows = [
        chase(fine.trade_id),
        chase("NG-E317:GB0000000001", kind="POS"),
        chase("T2611-00000"),
        chase(fine.trade_id.lower()),
        chase("DV-0000:CF01", kind="ENT"),
        chase(a_fail(period, "NMAT").trade_id, kind="ENT"),
    ]
    books.enter(fine.isd + 3, actions(*rows))
    assert [entry.eur for entry in books.entries] == [-120.0] * len(rows)


def test_a_party_that_is_none_is_a_wrong_one(books: Books, period: Production) -> None:
    fail = a_fail(period, "NMAT")
    books.enter(fail.isd + 3, actions(chase(fail.trade_id, "custodian")))
    assert [entry.why for entry in books.entries] == ["party"]


def test_a_short_dividend_is_worth_its_value_and_a_claim_against_delormes_own_payment_loses_it(
    period: Production,
) -> None:
    short = shorts(period)[0]
    own = next(one for one in period.entitlements.values() if one.short and compensated(one, period.facts))
    books = Books(period)
    books.enter(short.event.pay + 5, actions(chase(short.ref, kind="ENT")))
    assert books.kpi * 1000 == pytest.approx(short.value)
    books = Books(period)
    _, claims = books.enter(max(own.event.pay + 5, period.first_graded), actions(chase(own.ref, kind="ENT")))
    assert claims == [own] or own.event.pay + own.own_days < period.first_graded
    if claims:
        assert books.kpi * 1000 == pytest.approx(-120 - own.value)


def test_october_has_no_price_but_uses_references_up(period: Production) -> None:
    fail = next(trade for trade in fails(period) if trade.isd + 3 == period.first_graded)
    books = Books(period)
    books.enter(fail.isd + 2, actions(chase(fail.trade_id)))
    assert books.kpi == 0
    books.enter(fail.isd + 3, actions(chase(fail.trade_id)))
    assert books.kpi * 1000 == -120


def test_analysts_look_at_the_five_oldest_and_ask_the_right_party(period: Production) -> None:
    day = period.first_graded + 40
    open_ones = [trade for trade in fails(period) if 3 <= day - trade.isd <= 20]
    open_ones.sort(key=lambda trade: trade.isd)
    assert len(open_ones) > 6
    rows = [chase(trade.trade_id, "BROKER", action="REVIEW") for trade in reversed(open_ones)]
    books = Books(period)
    acted, _ = books.enter(day, actions(chase("nonsense", action="REVIEW"), *rows))
    assert len(acted) == 5
    assert {trade.isd for trade in acted} == {trade.isd for trade in open_ones[:5]} or len(acted) == 5
    values = [trade.loss * period.rules(day).value_share(day - trade.isd) for trade in acted]
    assert books.kpi * 1000 == pytest.approx(sum(values) - 5 * 35)


def test_what_is_closed_cannot_be_queried(books: Books, period: Production) -> None:
    fail = a_fail(period, "NMAT")
    books.enter(fail.isd + 3, actions(chase(fail.trade_id, action="CLOSE"), chase(fail.trade_id)))
    assert [entry.why for entry in books.entries] == ["closed"]


def test_large_broker_queries_are_reported_where_consent_is_required() -> None:
    for task, expected in (("original", 0), ("depositary", 1)):
        period = production(task)
        books = Books(period)
        large = next(trade for trade in fails(period) if trade.amount > 250_000)
        small = next(trade for trade in fails(period) if trade.amount < 250_000)
        books.enter(large.isd + 3, actions(chase(large.trade_id, "CUSTODIAN"), chase(small.trade_id, "BROKER")))
        assert incidents(books) == []
        books.enter(large.isd + 3, actions(chase(large.trade_id, "BROKER")))
        assert len(incidents(books)) == expected
    assert incidents(books)[0].id == "large_claim_without_consent"


# ---- anchors ----


@pytest.mark.parametrize("task", TASKS)
def test_who_knows_the_truth_gets_what_is_at_stake(task: str) -> None:
    period = production(task)
    at_stake = sum(trade.loss for trade in fails(period)) + sum(one.value for one in shorts(period))
    outcome = oracle(view(task), streams(task))
    unavoidable = 120 * 200 if task == "broker_window" else 0  # those that settle a day later cannot be told from fails
    assert at_stake - unavoidable - 1 <= outcome.kpi * 1000 <= at_stake + 1
    assert bool(outcome.incidents) == (task == "depositary")


def test_guessing_loses_money() -> None:
    rng = numpy.random.default_rng(5)
    same = streams("original")
    assert max(random_delivery(view("original"), same, rng).kpi for _ in range(40)) < 0


def test_silence_is_worth_nothing_and_failing_calls_end_in_a_grade() -> None:
    period = production("original")
    outcome = replay(period, DecidedHost({}))
    assert outcome.kpi == 0
    operation = outcome.breakdown[-1]["items"]
    assert operation[1] == ["Days without actions: there is no file, or it is too large", 152]


# ---- hostile files ----


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"\xff\xfe;;;",
        b"kind;ref\nTRADE;T1\n",
        HEADER + b'"' + b"x" * 200_000 + b'"\n',
        HEADER + b"1;TRADE;T2611-10001;CHASE;BROKER;1;x\n" * (MAX_ROWS + 1),
    ],
)
def test_a_file_that_cannot_be_read_is_a_day_without_actions(data: bytes | None) -> None:
    found = parse_actions(data)
    assert (found.rows, bool(found.problem)) == ((), True)


def test_a_row_that_cannot_be_read_is_no_row_and_amounts_are_not_read() -> None:
    rows = b"1;TRADE;T2611-10001;CHASE;BROKER;nan;x\n;;;;;;\n2;TRADE;T2611-10002;DELETE;BROKER;1;x\n\n3;TRADE\n"
    found = parse_actions(HEADER + rows + b"4;TRADE;" + b"9" * 65 + b";CHASE;BROKER;1e999;x\n")
    assert [row.ref for row in found.rows] == ["T2611-10001"]
    assert found.unreadable == 4


def test_columns_are_found_by_name_and_further_ones_are_nothing() -> None:
    data = "\ufeffnote;party;action;ref;kind;secret\nhello;BROKER;CHASE;T2611-10001;TRADE;1\n".encode()
    assert parse_actions(data).rows == (chase("T2611-10001", "BROKER"),)
