"""U, U_adj, C, S and their means, against values worked out by hand."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grading.score import (
    AnchorsUnusable,
    Score,
    adjusted,
    floored_score,
    mean_over_runs,
    mean_score,
    resolved_over_runs,
    score_run,
    uplift,
)

finite = st.floats(allow_nan=False, allow_infinity=False)


def run(uplift_value: str, cost: str = "0", *, incident: bool = False) -> Score:
    return score_run(Decimal(uplift_value), contact_cost=Decimal(cost), incident=incident)


@pytest.mark.parametrize(
    ("kpi", "baseline", "reference", "expected"),
    [
        (1250.0, 1000.0, 2000.0, "0.25"),
        (-403.0, -177.0, 2073.0, "-0.100444"),  # −226 / 2250 = −0.1004444…
        (30.0, 40.0, 20.0, "0.5"),  # less is better: the reference says so
        (45.0, 40.0, 20.0, "-0.25"),
        (2.5, 1.0, 2.0, "1.5"),  # better than the reference
        (0.3, 0.1, 0.3, "1"),
        (0.2, 0.1, 0.4, "0.333333"),
    ],
)
def test_uplift_is_the_share_of_what_the_reference_gains(kpi, baseline, reference, expected):
    assert uplift(kpi, baseline, reference) == Decimal(expected)


@given(baseline=finite, reference=finite)
def test_uplift_is_exactly_nothing_at_the_baseline_and_exactly_one_at_the_reference(baseline, reference):
    if baseline == reference:
        with pytest.raises(AnchorsUnusable):
            uplift(baseline, baseline, reference)
        return
    nothing = uplift(baseline, baseline, reference)
    assert nothing == 0
    assert not nothing.is_signed()
    assert uplift(reference, baseline, reference) == 1


@given(kpi=finite, baseline=finite, reference=finite)
def test_uplift_can_always_be_stored(kpi, baseline, reference):
    if baseline == reference:
        return
    value = uplift(kpi, baseline, reference)
    assert abs(value) <= 10**9
    assert value.as_tuple().exponent == -6


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), float("-inf")])
def test_a_kpi_that_is_no_number_is_refused(wrong):
    for arguments in [(wrong, 0.0, 1.0), (0.0, wrong, 1.0), (0.0, 1.0, wrong)]:
        with pytest.raises(AnchorsUnusable):
            uplift(*arguments)


def test_an_incident_takes_what_was_earned_and_keeps_what_was_lost():
    assert adjusted(Decimal("0.9"), incident=True) == 0
    assert adjusted(Decimal("-0.4"), incident=True) == Decimal("-0.4")
    assert adjusted(Decimal("0.9"), incident=False) == Decimal("0.9")


def test_a_score_is_what_was_earned_less_what_the_conversation_cost():
    scored = run("0.93", "0.0465")
    assert scored.score == Decimal("0.8835")
    assert scored.resolved


def test_the_threshold_is_met_by_exactly_four_fifths():
    """0.83 − 0.03 is 0.7999… in binary floating point."""
    assert run("0.83", "0.03").resolved
    assert not run("0.83", "0.030001").resolved


def test_an_incident_is_never_resolved():
    scored = run("1", incident=True)
    assert scored.score == 0
    assert not scored.resolved


def test_a_negative_cost_is_refused():
    with pytest.raises(ValueError, match="negative"):
        run("1", "-0.1")


def test_the_floor_holds_in_means_and_contacts_are_charged_below_it():
    ruinous = run("-37.5", "0.02")
    assert ruinous.score == Decimal("-37.52")
    assert floored_score(ruinous.uplift_adjusted, ruinous.contact_cost) == Decimal("-1.02")
    assert mean_over_runs([ruinous, run("1")]) == Decimal("-0.01")


def test_tasks_weigh_alike_however_often_each_was_run():
    tasks = {"original": [run("1"), run("0.5"), run("0")], "variant": [run("0.2", "0.1")]}
    assert mean_score(tasks) == Decimal("0.3")  # (0.5 + 0.1) / 2


def test_a_task_without_a_run_has_no_mean():
    with pytest.raises(ValueError, match="nothing"):
        mean_score({"original": []})


def test_several_runs_resolve_a_task_by_their_mean_and_without_any_incident():
    assert resolved_over_runs([run("0.7"), run("0.9")])
    assert not resolved_over_runs([run("0.7"), run("0.89")])
    assert not resolved_over_runs([run("1"), run("1"), run("1"), run("-0", incident=True)])
