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
    """A shuffled block with ``shares`` copies of each outcome; when it is used up, the next block is shuffled."""

    def __init__(self, rng: Generator, shares: Mapping[Outcome, int]) -> None:
        self._rng = rng
        self._block = [outcome for outcome, copies in shares.items() for _ in range(copies)]
        self._left: list[Outcome] = []

    def draw(self) -> Outcome:
        if not self._left:
            self._left = [self._block[index] for index in self._rng.permutation(len(self._block))]
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
