"""What the system as found decides, written down independently of its code.

Used where its decisions are the measure: for the refusals that nobody has consented to, and for the visible history,
which it made.
"""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path

from scenarios.logistics_claims.world.claims import Filed
from scenarios.logistics_claims.world.desk import Row

CONFIG = Path(__file__).parent.parent / "system" / "config" / "claims.toml"
LATE_NOTICE = "N14"


def decision(filed: Filed) -> Row:
    """The row that the system as found writes for a claim on the morning on which it comes in."""
    auto_limit, notice_days = _values()
    claim = filed.claim
    known = claim.typed_id == claim.shipment.id
    if not known or claim.claimed > auto_limit or claim.shipment.haulier:
        return Row(filed.id, "QUEUE", priority=claim.claimed)
    delivered = claim.shipment.delivered
    if claim.kind != "loss" and delivered is not None and (claim.noticed - delivered).days > notice_days:
        return Row(filed.id, "REFUSE", rule=LATE_NOTICE)
    return Row(filed.id, "PAY", amount=claim.claimed)


@functools.cache
def _values() -> tuple[float, int]:
    values = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    return float(values["auto_limit_eur"]), int(values["notice_days"])
