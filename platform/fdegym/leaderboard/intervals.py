"""The bootstrap for pages: the one of ``grading.statistics``, drawn once for the same numbers.

Of many numbers it is not drawn but computed: to draw five thousand ten thousand times takes most of a second, and what
comes out is known to more digits than a page shows. The distribution of a resampled mean is then the normal one, with a
correction for skewness (the Cornish-Fisher expansion); what is neglected falls with 1/n.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from decimal import Decimal
from statistics import NormalDist

import numpy

from grading.statistics import CONFIDENCE, Interval, mean_interval

DRAWN_BELOW = 400  #: units


def _computed(values: tuple[float, ...]) -> Interval:
    sample = numpy.asarray(values)
    mean, spread = float(sample.mean()), float(sample.std())
    if not spread:
        return Interval(mean, mean, mean, len(values))
    skewness = float(((sample - mean) ** 3).mean()) / spread**3
    error = spread / math.sqrt(len(values))
    at = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    shift = error * skewness * (at * at - 1) / (6 * math.sqrt(len(values)))
    return Interval(mean, mean - at * error + shift, mean + at * error + shift, len(values))


@functools.lru_cache(maxsize=8192)
def _drawn(values: tuple[float, ...]) -> Interval:
    return mean_interval(list(values))


def interval_of(scores: Iterable[Decimal]) -> Interval:
    """Mean and interval of these scores. A function of the numbers alone, so that remembering it is always right."""
    values = tuple(sorted(float(score) for score in scores))
    return _drawn(values) if len(values) < DRAWN_BELOW else _computed(values)
