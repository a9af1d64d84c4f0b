"""Alerts: which service, how bad, when, and the luck of those who are rung."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy
from numpy.random import Generator
from numpy.typing import NDArray

from scenarios.oncall_incident.world.clock import HELD_OUT, HOUR, SWAPPED_IN
from scenarios.oncall_incident.world.organisation import SERVICES

FIRST_ALERTS_IN_16_WEEKS = 1_800
_LAST_START, _LAST_STORM = 300, 200  #: minutes before the end of a period after which nothing begins
_DEALT_TOGETHER = 150  #: first alerts
_SEVERITIES = (*(1,) * 18, *(2,) * 69, *(3,) * 63)
_STORMS = (*(1, 2, 3) * 17, *(0,) * 99)  #: how many more follow; a third of the first alerts start some
_SAME_SERVICE_IN_TEN = 6
_STORM_SEVERITIES = (1, *(2,) * 5, *(3,) * 4)
WEIGHT = {1: 3.0, 2: 1.0, 3: 0.3}
_PRECISION = 10_000

Popularity = NDArray[numpy.int64]  #: cumulative weights by rank, whole numbers


@dataclass(frozen=True, slots=True)
class Alert:
    """``luck``: uniform numbers in [0, 1): level 1 answers, level 2 answers, how long the duty manager rings around."""

    at: int
    service: int
    severity: int
    luck: tuple[float, float, float]


def _popularity() -> Popularity:
    """Cumulative weights of the ranks, whole numbers: rank to the power of -0.2."""
    weights = [round(1_000_000 * (rank + 1) ** -0.2) for rank in range(SERVICES)]
    return numpy.cumsum(numpy.array(weights, dtype=numpy.int64))


def alerts(period: tuple[int, int], rng: Generator) -> list[Alert]:
    """First alerts, one in each equal slice of the period, and the storms that a third of them start; in order."""
    start, end = period[0] + SWAPPED_IN, period[1]
    count = FIRST_ALERTS_IN_16_WEEKS * (period[1] - period[0]) // (HELD_OUT[1] - HELD_OUT[0])
    span = end - _LAST_START - start
    popular = _popularity()
    services = _in_blocks(count, SERVICES, lambda size: _spread(popular, size, rng))
    severities = _in_blocks(count, _DEALT_TOGETHER, lambda size: _dealt(_SEVERITIES, size, rng))
    storms = _in_blocks(count, _DEALT_TOGETHER, lambda size: _dealt(_STORMS, size, rng))
    found: list[tuple[int, int, int]] = []
    for index in range(count):
        at = start + int(rng.integers(span * index // count, span * (index + 1) // count))
        found.append((at, services[index], severities[index]))
        for _ in range(storms[index]):
            later = min(end - _LAST_STORM, at + int(rng.integers(HOUR, 8 * HOUR)))
            same = int(rng.integers(10)) < _SAME_SERVICE_IN_TEN
            service = services[index] if same else _at_point(popular, int(rng.integers(int(popular[-1]))))
            found.append((later, service, _STORM_SEVERITIES[int(rng.integers(len(_STORM_SEVERITIES)))]))
    found.sort()
    luck = rng.integers(_PRECISION, size=(len(found), 3)).tolist()
    return [
        Alert(at, service, severity, (one[0] / _PRECISION, one[1] / _PRECISION, one[2] / _PRECISION))
        for (at, service, severity), one in zip(found, luck, strict=True)
    ]


def _at_point(popular: Popularity, point: int) -> int:
    return int(numpy.searchsorted(popular, point, side="right"))


def _in_blocks(count: int, size: int, block: Callable[[int], list[int]]) -> list[int]:
    """Dealt block after block, so that every stretch of time gets its share."""
    return [item for first in range(0, count, size) for item in block(min(size, count - first))]


def _spread(popular: Popularity, size: int, rng: Generator) -> list[int]:
    """Services by popularity, one for each equal slice of it, in a drawn order."""
    total = int(popular[-1])
    points = [int(rng.integers(total * index // size, total * (index + 1) // size)) for index in range(size)]
    return [_at_point(popular, points[index]) for index in rng.permutation(size).tolist()]


def _dealt(items: Sequence[int], size: int, rng: Generator) -> list[int]:
    """As many of the items as wanted, in the same shares, in a drawn order."""
    chosen = [items[len(items) * index // size] for index in range(size)]
    return [chosen[index] for index in rng.permutation(size).tolist()]
