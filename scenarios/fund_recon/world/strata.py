"""Drawing in exact shares."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TypeVar

from numpy.random import Generator

Item = TypeVar("Item")

#: shares of the reasons, per twenty
ORDERED_REASONS = ("CLAC",) * 9 + ("NMAT",) * 7 + ("LACK",) * 4


def share_of(rng: Generator, items: Sequence[Item], share: float) -> list[Item]:
    """That share of the items, to the nearest whole number, drawn without order but returned in theirs."""
    count = min(len(items), round(share * len(items)))
    return [items[index] for index in sorted(int(one) for one in rng.permutation(len(items))[:count])]


def cycle_of(rng: Generator, items: Sequence[Item]) -> Iterator[Item]:
    """The items for ever, each round in a new order."""
    while True:
        for index in rng.permutation(len(items)):
            yield items[int(index)]


def one_in_each(rng: Generator, ordered: Sequence[Item], count: int) -> list[Item]:
    """One item out of each of ``count`` equal stretches of an ordered sequence."""
    count = min(count, len(ordered))
    edges = [len(ordered) * index // max(1, count) for index in range(count + 1)]
    return [ordered[int(rng.integers(low, high))] for low, high in itertools.pairwise(edges)]
