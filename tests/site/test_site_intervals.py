"""Intervals of many runs, which are computed instead of drawn."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest

from fdegym.leaderboard.intervals import DRAWN_BELOW, interval_of
from grading.statistics import mean_interval


def scores(number, seed):
    """As runs are: many near the reference, many at nothing, some far below."""
    chance = random.Random(seed)
    kinds = (lambda: chance.gauss(0.9, 0.08), lambda: chance.gauss(0.1, 0.3), lambda: -abs(chance.gauss(0, 0.8)))
    return [Decimal(round(max(-1.0, chance.choice(kinds)()), 6)) for _ in range(number)]


@pytest.mark.parametrize("number", [DRAWN_BELOW, 2000])
def test_the_interval_of_many_is_the_one_that_would_be_drawn(number):
    """Within what another seed of the same bootstrap would change: a twentieth of half its width."""
    values = scores(number, seed=number)
    drawn, computed = mean_interval([float(value) for value in values]), interval_of(values)
    half = (drawn.high - drawn.low) / 2
    assert (computed.mean, computed.units) == (pytest.approx(drawn.mean), drawn.units)
    assert computed.low == pytest.approx(drawn.low, abs=half / 20)
    assert computed.high == pytest.approx(drawn.high, abs=half / 20)


def test_of_many_equal_scores_nothing_is_uncertain():
    found = interval_of([Decimal("0.5")] * DRAWN_BELOW)
    assert (found.low, found.mean, found.high) == (0.5, 0.5, 0.5)


def test_few_are_drawn_as_ever():
    values = scores(DRAWN_BELOW - 1, seed=3)
    assert interval_of(values) == mean_interval([float(value) for value in values])
