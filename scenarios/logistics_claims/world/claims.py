"""A shipment, the claim on it, and the truth that only the world and the grader know."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

SMALL_EUR = 150.0  #: up to this claims are small: what the sponsor means, and what comes back when it is paid


@dataclass(frozen=True, slots=True)
class Scan:
    """``at``: minutes since midnight UTC of day 1 of the proleptic calendar; ``late``: working days until it arrives."""

    at: int
    place: str
    event: str
    carrier: str
    note: str = ""
    late: int = 0


@dataclass(frozen=True, slots=True)
class Receipt:
    """A proof of delivery: ``code`` C, R or N."""

    code: str
    signed_by: str
    remark: str


@dataclass(frozen=True, slots=True)
class Shipment:
    """``weight_shown`` is what the feed says, blank where it is missing; ``haulier`` is blank if driven by us throughout."""

    id: str
    customer: str
    cls: str
    depot: str
    destination: str
    product: str
    pieces: int
    weight_shown: str
    carriage: float
    flag: str
    picked_up: date
    due: date
    delivered: date | None
    scans: tuple[Scan, ...]
    receipt: Receipt | None
    haulier: str

    @property
    def base_day(self) -> date:
        """Day of delivery, or the promised one until goods turn up."""
        return self.delivered or self.due


@dataclass(frozen=True, slots=True)
class Claim:
    """``owed``: what it is worth once all is known. ``reason``: the ground of refusal, blank if none; a P1 claim can be
    worth nothing without one. ``letter_until``: last day for a letter to the haulier; None if no letter is well founded.
    ``threshold``: None for a regular claim; else it is filed only where paying nonsense has become this likely."""

    day: int
    received: date
    claimant: str
    role: str
    shipment: Shipment
    typed_id: str
    kind: str
    claimed: float
    noticed: date
    affected: int
    evidence: str
    text: str
    owed: float
    limit: float
    reason: str
    letter_until: date | None
    threshold: float | None = None
    uploads: int = 1  #: how often it is sent in

    @property
    def doubtful(self) -> bool:
        return self.evidence == "P1"

    @property
    def invalid_small(self) -> bool:
        return self.claimed <= SMALL_EUR and self.owed <= 0


@dataclass(slots=True)
class Filed:
    """A claim that came in, under its number. ``sequence`` orders them."""

    id: str
    sequence: int
    day: int
    claim: Claim
    owed: float  #: nothing for a second upload
    priority: float = field(default=0.0)
