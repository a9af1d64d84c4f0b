"""How many ways a regular expression has to read a text. The customer's people are one process for everybody: a pattern
that can be read in too many ways would let one message keep all of them silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from stakeholders.messages import MOST_CHARACTERS

_PARSER: Any = re._parser  # type: ignore[attr-defined]
MOST_WAYS = 100_000


def ways_to_read(pattern: str) -> int:
    """No less than the ways in which the pattern can be tried at one place of a message, as far as ``MOST_WAYS`` + 1.

    Raises ``re.error`` or what else ``re.compile`` raises.
    """
    return _sequence(_PARSER.parse(pattern))


def _sequence(items: Iterable[tuple[Any, Any]]) -> int:
    ways = 1
    for operation, value in items:
        ways = _bounded(ways * _one(str(operation), value))
    return ways


def _one(operation: str, value: Any) -> int:
    if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        low, high, repeated = value
        return _repeated(int(low), min(int(high), MOST_CHARACTERS), _sequence(repeated))
    if operation == "BRANCH":
        return _bounded(sum(_sequence(branch) for branch in value[1]))
    if operation in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
        return _sequence(value[-1])
    if operation == "ATOMIC_GROUP":
        return _sequence(value)
    if operation == "GROUPREF_EXISTS":
        return _bounded(sum(_sequence(branch) for branch in value[1:] if branch is not None))
    return 1


def _repeated(low: int, high: int, ways: int) -> int:
    """Once for each number of times that it may be there, each time in so many ways."""
    total, product = 0, _bounded(ways ** min(low, 64))
    for _ in range(low, high + 1):
        total, product = total + product, _bounded(product * ways)
        if total > MOST_WAYS:
            break
    return _bounded(total)


def _bounded(ways: int) -> int:
    return min(ways, MOST_WAYS + 1)
