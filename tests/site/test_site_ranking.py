"""The ranking rule."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from fdegym.leaderboard.ranking import OverallStandings, Result, Standings, is_better
from tests.site.conftest import NOON


def result(person, score, *, after_min=60, begun=NOON, run=None, scenario="bakery_orders", cost="0", resolved=None):
    value, charge = Decimal(score), Decimal(cost)
    return Result(
        run_id=uuid.UUID(int=run if run is not None else person),
        person=person,
        scenario_id=scenario,
        level="L3",
        attempt=1,
        opened_at=begun,
        submitted_at=begun + timedelta(minutes=after_min),
        uplift_adjusted=value + charge,
        contact_cost=charge,
        score=value,
        resolved=value >= Decimal("0.8") if resolved is None else resolved,
    )


def rank(results):
    return Standings(results).cut()


def rank_overall(results, offered):
    return OverallStandings(offered, results).cut()


def order(standings):
    return [one.result.person for one in standings]


def test_the_higher_score_stands_first():
    assert order(rank([result(1, "0.2"), result(2, "0.9"), result(3, "-4")])) == [2, 1, 3]


def test_of_equal_scores_the_earlier_one_stands_first_whatever_the_row_ids():
    """FC-103: neither the row's number nor the time of grading decides a tie."""
    late_low_id = result(1, "0.9", begun=NOON + timedelta(hours=3), run=1)
    early_high_id = result(2, "0.9", begun=NOON, run=99)
    for given_order in ([late_low_id, early_high_id], [early_high_id, late_low_id]):
        standings = rank(given_order)
        assert order(standings) == [2, 1]
        assert all(standing.tied for standing in standings)


def test_equal_score_and_equal_time_still_have_one_order():
    """FC-103: the order is total."""
    pair = [result(1, "0.9", run=7), result(2, "0.9", run=3)]
    assert order(rank(pair)) == order(rank(pair[::-1])) == [2, 1]


def test_scores_that_only_look_equal_are_no_tie():
    standings = rank([result(1, "0.900001"), result(2, "0.900000")])
    assert order(standings) == [1, 2]
    assert not any(standing.tied for standing in standings)


@given(st.permutations([result(n, s, after_min=m) for n, (s, m) in enumerate([("0.5", 9), ("0.5", 9), ("0.7", 3)])]))
def test_the_order_does_not_depend_on_the_order_of_the_rows(rows):
    assert order(rank(rows)) == [2, 0, 1]


def test_the_limit_of_the_agents_counts_time_from_beginning_to_handing_in():
    assert [result(1, "1", after_min=minutes).is_within_limit for minutes in (150, 151)] == [True, False]


def test_of_a_persons_runs_the_one_that_would_stand_first_is_the_better():
    late = result(1, "0.9", run=2, begun=NOON + timedelta(days=1))
    assert is_better(late, result(1, "0.4", run=1))
    assert not is_better(late, result(1, "0.9", run=1))


ROWS = st.lists(
    st.builds(
        lambda person, score, minutes, scenario: result(
            person, score, after_min=minutes, scenario=scenario, run=minutes * 100 + person
        ),
        st.integers(1, 5),
        st.sampled_from(["0.5", "0.7", "-3"]),
        st.integers(1, 9),
        st.sampled_from(["bakery_orders", "other"]),
    )
)


@given(ROWS)
def test_results_that_come_one_by_one_stand_as_those_that_come_at_once(rows):
    bakery = [row for row in rows if row.scenario_id == "bakery_orders"]
    single, overall = Standings(), OverallStandings(2)
    for row in bakery:
        single.put(row)
    for row in rows:
        overall.put(row)
    assert single.cut() == Standings(bakery).cut()
    assert overall.cut() == OverallStandings(2, rows).cut()
    assert [single.of(one.result.person) for one in single.cut()] == single.cut()
    assert [overall.of(one.person) for one in overall.cut()] == overall.cut()


def test_a_scenario_not_begun_counts_as_doing_nothing():
    standings = rank_overall([result(1, "0.9"), result(2, "0.5"), result(2, "0.5", scenario="other", run=5)], 2)
    assert [(one.person, one.total, one.begun) for one in standings] == [
        (2, Decimal("0.5"), 2),
        (1, Decimal("0.45"), 1),
    ]


def test_one_ruinous_delivery_does_not_outweigh_all_others():
    (standing,) = rank_overall([result(1, "-500", cost="0.1"), result(1, "0.8", scenario="other", run=5)], 2)
    assert standing.total == (Decimal("-1.1") + Decimal("0.8")) / 2


def test_equal_totals_are_ordered_by_the_last_delivery_that_makes_them_up():
    early = [result(1, "0.5"), result(1, "0.3", scenario="other", run=11, begun=NOON + timedelta(days=2))]
    late = [result(2, "0.8", begun=NOON + timedelta(days=3), run=12)]
    standings = rank_overall(late + early, 2)
    assert [one.person for one in standings] == [1, 2]
    assert all(one.tied for one in standings)
