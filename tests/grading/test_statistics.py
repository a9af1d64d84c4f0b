"""The one bootstrap: right on samples whose answer is known, the same for everybody who has the same numbers."""

import itertools

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grading.statistics import difference_interval, grouped_mean_interval, mean_interval

values = st.lists(st.floats(min_value=-1e3, max_value=1e3), min_size=2, max_size=12)


def test_the_interval_is_that_of_all_resamples_written_out():
    """Three values have 27 resamples; the exact 5th and 95th percentiles of their means can be enumerated."""
    sample = [0.0, 1.0, 5.0]
    every = [sum(drawn) / 3 for drawn in itertools.product(sample, repeat=3)]
    found = mean_interval(sample, confidence=0.8, resamples=40_000)
    assert found.mean == pytest.approx(2.0)
    assert found.low == pytest.approx(numpy.quantile(every, 0.1, method="inverted_cdf"), abs=1e-9)
    assert found.high == pytest.approx(numpy.quantile(every, 0.9, method="inverted_cdf"), abs=1e-9)


def test_a_large_sample_agrees_with_the_normal_interval():
    sample = numpy.random.default_rng(7).normal(3.0, 2.0, size=4000)
    half = 1.959964 * sample.std() / numpy.sqrt(sample.size)
    found = mean_interval(sample.tolist(), resamples=4000)
    assert found.low == pytest.approx(sample.mean() - half, abs=0.15 * half)
    assert found.high == pytest.approx(sample.mean() + half, abs=0.15 * half)


def test_equal_values_have_no_spread():
    found = mean_interval([0.25] * 9)
    assert (found.low, found.mean, found.high) == (0.25, 0.25, 0.25)


def test_one_run_alone_has_no_interval():
    found = mean_interval([0.6])
    assert found.mean == 0.6
    assert found.low is None
    assert found.high is None
    assert found.units == 1


@settings(max_examples=25)
@given(sample=values, data=st.data())
def test_the_order_of_the_rows_does_not_matter(sample, data):
    shuffled = data.draw(st.permutations(sample))
    assert mean_interval(sample, resamples=200) == mean_interval(shuffled, resamples=200)


@settings(max_examples=25)
@given(sample=values)
def test_the_interval_lies_within_the_sample(sample):
    found = mean_interval(sample, resamples=200)
    assert min(sample) - 1e-9 <= found.low <= found.high <= max(sample) + 1e-9


def test_other_numbers_draw_another_stream():
    one, two = mean_interval([0.0, 1.0, 2.0, 4.0], resamples=501), mean_interval([0.0, 1.0, 2.0, 5.0], resamples=501)
    assert (one.low, one.high) != (two.low, two.high)


def test_tasks_weigh_alike_in_a_grouped_mean():
    found = grouped_mean_interval({"a": [1.0, 0.5, 0.0], "b": [0.1]}, resamples=2000)
    assert found.mean == pytest.approx(0.3)
    assert found.units == 2
    assert found.low == pytest.approx(0.1)  # both draws the second task
    assert 0.5 <= found.high <= 1.0


def test_the_names_of_tasks_do_not_move_an_interval():
    one = grouped_mean_interval({"a": [1.0, 0.5], "b": [0.1, 0.3]}, resamples=500)
    assert one == grouped_mean_interval({"z": [0.3, 0.1], "y": [0.5, 1.0]}, resamples=500)


def test_one_task_alone_is_spread_over_its_runs():
    assert grouped_mean_interval({"a": [0.0, 1.0]}, resamples=500) == mean_interval([1.0, 0.0], resamples=500)


def test_runs_of_one_task_vary_within_a_grouped_mean():
    """Two tasks with the same runs: choosing tasks adds nothing, the spread is that of the runs."""
    found = grouped_mean_interval({"a": [0.0, 1.0], "b": [0.0, 1.0]}, resamples=4000)
    assert found.low == 0.0
    assert found.high == 1.0


def test_a_difference_of_shifted_samples_is_the_shift():
    found = difference_interval([1.0, 2.0, 3.0], [0.0, 1.0, 2.0], resamples=4000)
    assert found.mean == pytest.approx(1.0)
    assert -1.0 <= found.low < 1.0 < found.high <= 3.0
    assert found.units == 3


@pytest.mark.parametrize("wrong", [[], [float("nan"), 1.0], [float("inf")]])
def test_a_sample_without_numbers_is_refused(wrong):
    with pytest.raises(ValueError, match="sample"):
        mean_interval(wrong)


def test_a_large_sample_is_drawn_in_blocks_and_stays_the_same(monkeypatch):
    sample = [float(number % 17) for number in range(300)]
    whole = mean_interval(sample, resamples=400)
    monkeypatch.setattr("grading.statistics._BLOCK", 3000)
    assert mean_interval(sample, resamples=400) == whole
