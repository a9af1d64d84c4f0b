"""Draws with quotas: every block of draws holds each outcome in its exact share, so that luck cannot shift a period."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Generic, TypeVar

from numpy.random import Generator

Outcome = TypeVar("Outcome")
_NORMAL = NormalDist()


class Deck(Generic[Outcome]):
    """Draws from blocks with ``shares`` copies of each outcome, every outcome spread over its block.

    Each copy falls at a random place of its own stretch of the block: order and distances are open, but neither a long
    run nor a long absence of an outcome can happen.
    """

    def __init__(self, rng: Generator, shares: Mapping[Outcome, int]) -> None:
        self._rng = rng
        self._shares = dict(shares)
        self._left: list[Outcome] = []

    def draw(self) -> Outcome:
        if not self._left:
            places: list[tuple[float, int, Outcome]] = []
            for order, (outcome, copies) in enumerate(self._shares.items()):
                offsets = self._rng.random(copies)
                places.extend(((copy + float(offsets[copy])) / copies, order, outcome) for copy in range(copies))
            places.sort(key=lambda place: place[:2], reverse=True)
            self._left = [outcome for _, _, outcome in places]
        return self._left.pop()


def chance(rng: Generator, percent: int, block: int = 50) -> Deck[bool]:
    """Yes in ``percent`` of a hundred draws, exactly so in every block (``percent · block`` divisible by 100)."""
    yes = percent * block // 100
    return Deck(rng, {True: yes, False: block - yes})


class Durations:
    """Lognormal durations in quarter hours, one from every twentieth of the distribution in each block of twenty."""

    STRATA = 20

    def __init__(self, rng: Generator, median_h: float, sigma: float, low_h: float, high_h: float) -> None:
        self._rng = rng
        self._log_median, self._sigma = math.log(median_h), sigma
        self._low_h, self._high_h = low_h, high_h
        self._strata = Deck(rng, dict.fromkeys(range(self.STRATA), 1))

    def draw(self) -> int:
        quantile = (self._strata.draw() + 0.02 + 0.96 * self._rng.random()) / self.STRATA
        hours = math.exp(self._log_median + self._sigma * _NORMAL.inv_cdf(quantile))
        return max(1, round(4 * min(self._high_h, max(self._low_h, hours))))
