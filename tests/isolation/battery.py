"""The battery as one list: every attempt by its kind, with what it tries in a sentence."""

from __future__ import annotations

from tests.isolation.programs.everything import ATTEMPTS
from tests.isolation.programs.planting import PLANTINGS
from tests.isolation.programs.pressing import PRESSURES
from tests.isolation.programs.surviving import SURVIVALS


def everything() -> dict[str, dict[str, str]]:
    """kind -> name -> what it tries. Each is made on every runtime."""
    found: dict[str, dict[str, str]] = {}
    for each in ATTEMPTS.values():
        found.setdefault(each.kind, {})[each.name] = each.tries
    found["copying out"] = {each.name: each.tries for each in PLANTINGS.values()}
    found["surviving the end"] = {each.name: each.tries for each in SURVIVALS.values()}
    found["exhaustion"] = {each.name: each.tries for each in PRESSURES.values()}
    return found
