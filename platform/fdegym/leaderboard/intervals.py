"""The bootstrap for pages: the one of ``grading.statistics``, drawn once for the same numbers."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from decimal import Decimal

from grading.statistics import Interval, mean_interval


@functools.lru_cache(maxsize=8192)
def _drawn(values: tuple[float, ...]) -> Interval:
    return mean_interval(list(values))


def interval_of(scores: Iterable[Decimal]) -> Interval:
    """Mean and interval of these scores. A function of the numbers alone, so that remembering it is always right."""
    return _drawn(tuple(sorted(float(score) for score in scores)))
