"""Alerts: which service, how bad, when, and the luck of those who are rung."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy
from numpy.random import Generator

from scenarios.oncall_incident.world.clock import HELD_OUT, HOUR, SWAPPED_IN
from scenarios.oncall_incident.world.organisation import SERVICES

FIRST_ALERTS_IN_16_WEEKS = 1_800
STORM_SHARE = (34, 100)
_LAST_START, _LAST_STORM = 300, 200  #: minutes before the end of a period after which nothing begins
_SEVERITY_SHARES = ((1, 12), (2, 46), (3, 42))
_STORM_SEVERITIES = (1, *(2,) * 5, *(3,) * 4)
WEIGHT = {1: 3.0, 2: 1.0, 3: 0.3}
_PRECISION = 10_000


@dataclass(frozen=True, slots=True)
class Alert:
    """``luck``: uniform numbers in [0, 1): level 1 answers, level 2 answers, how long the duty manager rings around."""

    at: int
    service: int
    severity: int
    luck: tuple[float, float, float]


def _popularity() -> numpy.typing.NDArray[numpy.int64]:
    """Cumulative weights of the ranks, whole numbers: rank to the power of -0.2."""
    weights = [round(1_000_000 * (rank + 1) ** -0.2) for rank in range(SERVICES)]
    return numpy.cumsum(numpy.array(weights, dtype=numpy.int64))


def alerts(period: tuple[int, int], rng: Generator) -> list[Alert]:
    """First alerts, one in each equal slice of the period, and the storms that a third of them start; in order."""
    start, end = period[0] + SWAPPED_IN, period[1]
    count = FIRST_ALERTS_IN_16_WEEKS * (period[1] - period[0]) // (HELD_OUT[1] - HELD_OUT[0])
    span = end - _LAST_START - start
    popular = _popularity()
    found: list[tuple[int, int, int]] = []
    severities = _dealt([sev for sev, share in _SEVERITY_SHARES for _ in range(-(-count * share // 100))], count, rng)
    storms = count * STORM_SHARE[0] // STORM_SHARE[1]
    sizes = _dealt([*(1 + index % 3 for index in range(storms)), *[0] * (count - storms)], count, rng)
    for index in range(count):
        low, high = span * index // count, span * (index + 1) // count
        at = start + int(rng.integers(low, high))
        service = _drawn(popular, rng)
        found.append((at, service, severities[index]))
        for _ in range(sizes[index]):
            later = min(end - _LAST_STORM, at + int(rng.integers(HOUR, 8 * HOUR)))
            same = int(rng.integers(10)) < 6
            severity = _STORM_SEVERITIES[int(rng.integers(len(_STORM_SEVERITIES)))]
            found.append((later, service if same else _drawn(popular, rng), severity))
    found.sort()
    luck = rng.integers(_PRECISION, size=(len(found), 3)).tolist()
    return [
        Alert(at, service, severity, (one[0] / _PRECISION, one[1] / _PRECISION, one[2] / _PRECISION))
        for (at, service, severity), one in zip(found, luck, strict=True)
    ]


def _drawn(popular: numpy.typing.NDArray[numpy.int64], rng: Generator) -> int:
    return int(numpy.searchsorted(popular, rng.integers(int(popular[-1])), side="right"))


def _dealt(items: Sequence[int], count: int, rng: Generator) -> list[int]:
    return [items[int(index)] for index in rng.permutation(len(items))][:count]
