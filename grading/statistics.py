"""Uncertainty of means: one bootstrap for every page, table and export.

Percentile bootstrap (Efron & Tibshirani 1993, chapter 13). The generator is seeded by the data themselves, so that
whoever has the same numbers, in whatever order, gets the same interval without being told a seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy
from numpy.typing import NDArray

RESAMPLES = 10_000
CONFIDENCE = 0.95
_BLOCK = 2_000_000  #: how many drawn values are held at once


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean and where it may lie. ``low`` and ``high`` are None where one unit alone says nothing about spread."""

    mean: float
    low: float | None
    high: float | None
    units: int  #: how many independent units were resampled (runs, or tasks)
    confidence: float = CONFIDENCE


def _generator(label: str, *groups: NDArray[numpy.float64]) -> numpy.random.Generator:
    """A generator that depends on the content alone: the label, and each group's values in ascending order."""
    digest = hashlib.sha256(label.encode())
    for group in groups:
        digest.update(len(group).to_bytes(8, "little"))
        digest.update(group.astype("<f8").tobytes())
    return numpy.random.Generator(numpy.random.PCG64(int.from_bytes(digest.digest(), "big")))


def _sorted(values: Sequence[float]) -> NDArray[numpy.float64]:
    array = numpy.sort(numpy.asarray(values, dtype=numpy.float64)) + 0.0  # + 0.0: no negative zero in the seed
    if array.ndim != 1 or array.size == 0:
        raise ValueError("a sample is a non-empty list of numbers")
    if not numpy.isfinite(array).all():
        raise ValueError("a sample holds finite numbers only")
    return array


def _resampled_means(
    values: NDArray[numpy.float64], generator: numpy.random.Generator, resamples: int
) -> NDArray[numpy.float64]:
    rows = max(1, _BLOCK // values.size)
    blocks = []
    for start in range(0, resamples, rows):
        drawn = generator.integers(0, values.size, size=(min(rows, resamples - start), values.size))
        blocks.append(values[drawn].mean(axis=1))
    return numpy.concatenate(blocks)


def _percentiles(means: NDArray[numpy.float64], confidence: float) -> tuple[float, float]:
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not {confidence}")
    tail = (1 - confidence) / 2
    low, high = numpy.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


def mean_interval(values: Sequence[float], *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES) -> Interval:
    """Mean of ``values`` with its percentile interval. Raises ``ValueError`` for an empty or non-finite sample."""
    sample = _sorted(values)
    mean = float(sample.mean())
    if sample.size == 1:
        return Interval(mean, None, None, 1, confidence)
    low, high = _percentiles(_resampled_means(sample, _generator("mean", sample), resamples), confidence)
    return Interval(mean, low, high, int(sample.size), confidence)


def grouped_mean_interval(
    groups: Mapping[str, Sequence[float]], *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> Interval:
    """Mean over groups of the mean within each (tasks, each with its runs), resampling groups *and* what is in them.

    The groups' names do not matter, only their content. With one group its own values are the units.
    """
    samples = sorted((_sorted(values) for values in groups.values()), key=lambda sample: (sample.size, sample.tolist()))
    if not samples:
        raise ValueError("a sample holds at least one group")
    if len(samples) == 1:
        return mean_interval(samples[0].tolist(), confidence=confidence, resamples=resamples)
    generator = _generator("grouped", *samples)
    # within each group first, independently; then groups are drawn, each draw with its own resample of that group
    within = numpy.stack(
        [
            _resampled_means(sample, generator, resamples) if sample.size > 1 else numpy.full(resamples, sample[0])
            for sample in samples
        ]
    )
    count = len(samples)
    chosen = generator.integers(0, count, size=(resamples, count))
    row = numpy.arange(resamples)[:, None]
    low, high = _percentiles(within[chosen, row].mean(axis=1), confidence)
    mean = float(numpy.mean([sample.mean() for sample in samples]))
    return Interval(mean, low, high, count, confidence)


def difference_interval(
    first: Sequence[float], second: Sequence[float], *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> Interval:
    """Mean of ``first`` minus mean of ``second``, two independent samples. ``units`` is the smaller sample's size."""
    one, two = _sorted(first), _sorted(second)
    mean = float(one.mean() - two.mean())
    if one.size == 1 or two.size == 1:
        return Interval(mean, None, None, 1, confidence)
    generator = _generator("difference", one, two)
    means = _resampled_means(one, generator, resamples) - _resampled_means(two, generator, resamples)
    low, high = _percentiles(means, confidence)
    return Interval(mean, low, high, int(min(one.size, two.size)), confidence)
