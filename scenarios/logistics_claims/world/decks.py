"""Draws with quotas: every block of draws holds each outcome in its share, so that luck cannot shift a period."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Generic, TypeVar

from numpy.random import Generator

Outcome = TypeVar("Outcome")
_NORMAL = NormalDist()


class Deck(Generic[Outcome]):
    """Draws without replacement from a shuffled block with so many copies of each outcome, block after block."""

    def __init__(self, rng: Generator, copies: Mapping[Outcome, int]) -> None:
        self._rng = rng
        self._block = [outcome for outcome, number in copies.items() for _ in range(number)]
        self._left: list[Outcome] = []

    def draw(self) -> Outcome:
        if not self._left:
            self._left = [self._block[index] for index in self._rng.permutation(len(self._block)).tolist()]
        return self._left.pop()


def chance(rng: Generator, percent: int, block: int = 100) -> Deck[bool]:
    """Yes in ``percent`` of a hundred draws, exactly so in every block (``percent · block`` divisible by 100)."""
    yes = percent * block // 100
    return Deck(rng, {True: yes, False: block - yes})


class Uniform:
    """Numbers in [0, 1), one from every stretch of equal width in each block."""

    STRATA = 100

    def __init__(self, rng: Generator) -> None:
        self._rng = rng
        self._left: list[float] = []

    def draw(self) -> float:
        if not self._left:
            order, within = self._rng.permutation(self.STRATA).tolist(), self._rng.random(self.STRATA).tolist()
            self._left = [(stretch + part) / self.STRATA for stretch, part in zip(order, within, strict=True)]
        return self._left.pop()


class Lognormal:
    """Lognormal numbers, quantised to hundredths, stratified over the distribution."""

    def __init__(self, rng: Generator, median: float, sigma: float, low: float, high: float) -> None:
        self._uniform = Uniform(rng)
        self._log_median, self._sigma, self._low, self._high = math.log(median), sigma, low, high

    def draw(self) -> float:
        quantile = min(max(self._uniform.draw(), 1e-6), 1 - 1e-6)
        value = math.exp(self._log_median + self._sigma * _NORMAL.inv_cdf(quantile))
        return round(min(self._high, max(self._low, value)), 2)


class Geometric:
    """Days until the first success, from 1, at most ``most``, stratified."""

    def __init__(self, rng: Generator, chance: float, most: int) -> None:
        self._uniform = Uniform(rng)
        self._reached: list[float] = []
        left = 1.0
        for _ in range(most - 1):
            left *= 1 - chance
            self._reached.append(1 - left)

    def draw(self) -> int:
        quantile = self._uniform.draw()
        return 1 + sum(quantile >= reached for reached in self._reached)
