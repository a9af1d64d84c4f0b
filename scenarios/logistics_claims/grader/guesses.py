"""Deliveries by luck: what the grade gives to somebody who pays, refuses and hands on by coins."""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

from numpy.random import Generator

from scenarios.kit.world import Outcome, Streams, TaskView
from scenarios.logistics_claims.grader.ledger import Ledger
from scenarios.logistics_claims.grader.rows import parse_decisions
from scenarios.logistics_claims.grader.truth import written
from scenarios.logistics_claims.world.claims import Filed
from scenarios.logistics_claims.world.desk import Row
from scenarios.logistics_claims.world.production import Production, Run, Source

RULE = "GUESS"

#: a task's streams and facts go together, and all draws of a task come with the same streams
_SOURCES: WeakKeyDictionary[Streams, Source] = WeakKeyDictionary()


def random_delivery(task: TaskView, streams: Streams, rng: Generator) -> Outcome:
    """One delivery drawn decision by decision and judged as a replayed one is.

    Each claim is refused, paid or left to the assessors, all three alike; what is paid is the claim or what the weight
    allows, by a coin. It keeps the mandate and gives a rule. A letter goes by a coin.
    """
    if streams not in _SOURCES:
        _SOURCES[streams] = Production(task, streams).source
    run = Run(_SOURCES[streams])
    ledger = Ledger(run)
    for day in range(len(run.days)):
        rows = _guesses(run.file(day), rng, run.terms.mandate)
        ledger.decide(day, parse_decisions(written(rows)))
    return ledger.outcome()


def _guesses(new: list[Filed], rng: Generator, mandate: float) -> Iterable[Row]:
    draws = rng.random((len(new), 3)).tolist()
    for filed, (what, letter, capped) in zip(new, draws, strict=True):
        claim = filed.claim
        if what < 1 / 3:
            yield Row(filed.id, "REFUSE", rule=RULE)
        elif what < 2 / 3:
            amount = min(claim.claimed, claim.limit) if capped < 0.5 else claim.claimed
            haulier = claim.shipment.haulier
            yield Row(filed.id, "PAY", max(0.01, min(mandate, amount)), RULE, bool(haulier) and letter < 0.5, haulier)
        else:
            yield Row(filed.id, "QUEUE", priority=claim.claimed)
