"""What the desk noticed in two weeks on the delivered system: sentences, never an amount or a rule."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scenarios.kit.world import DeploymentHost, Finding
from scenarios.logistics_claims.grader.ledger import Ledger
from scenarios.logistics_claims.grader.replay import observe
from scenarios.logistics_claims.world.desk import Settled
from scenarios.logistics_claims.world.places import KEY
from scenarios.logistics_claims.world.production import Run

NOTICED = 2  #: one odd case tells nothing
A_LOT = 12
IDLE = 0.25  #: of the assessors' days
IDLE_HOUR_EUR = 20.0


def trial(production: Run, host: DeploymentHost) -> list[Finding]:
    """Play the trial's ten days on the delivered system; the findings, the most expensive first."""
    found = sorted(_noticed(observe(production, host)), key=lambda pair: -pair[0])
    return [finding for _, finding in found]


def _noticed(ledger: Ledger) -> Iterable[tuple[float, Finding]]:
    """(EUR behind it, finding)."""
    settled, run = ledger.settled, ledger.run
    missing = ledger.failures["decide"] + sum(ledger.unreadable_files.values())
    if missing:
        yield float("inf"), ("unread", {"mornings": missing})
    nothing: dict[str, Any] = {}
    refused = [
        one for one in settled if one.ending == "refused" and one.extra > 0 and one.filed.claim.shipment.cls == KEY
    ]
    if len(refused) >= NOTICED:
        yield _extra(refused), ("keys_refused", nothing)
    twice = [one for one in settled if one.ending == "paid" and _paid_before(one, settled)]
    if twice:
        yield sum(one.paid for one in twice), ("both_ends", nothing)
    # not those on second claims: the first may have come in before the trial's days
    back = [one for one in settled if one.letter == "unfounded" and one.filed.owed > 0]
    if len(back) >= NOTICED:
        yield sum(one.fee for one in back), ("letters_back", nothing)
    known = [one for one in settled if one.ending == "paid" and one.filed.claim.invalid_small and not one.filed.owed]
    if len(known) >= A_LOT:
        yield sum(one.paid for one in known), ("known_by_name", nothing)
    places = run.terms.decisions_a_day * len(run.days)
    if sum(ledger.assessed) < IDLE * places:
        yield IDLE_HOUR_EUR * (places - sum(ledger.assessed)), ("empty_afternoon", nothing)


def _paid_before(one: Settled, settled: list[Settled]) -> bool:
    """Whether another claim on the shipment had been paid when this one was."""
    shipment, sequence = one.filed.claim.shipment.id, one.filed.sequence
    return one.filed.owed <= 0 and any(
        other.ending in ("paid", "assessed") and other.paid > 0 and other.filed.claim.shipment.id == shipment
        for other in settled
        if other.filed.sequence < sequence and other.on_day <= one.on_day
    )


def _extra(settled: Iterable[Settled]) -> float:
    return sum(one.extra for one in settled)
