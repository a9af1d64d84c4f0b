"""The files that production and the archive hold, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from scenarios.kit.tables import csv_bytes
from scenarios.logistics_claims.world.claims import Filed, Scan, Shipment
from scenarios.logistics_claims.world.journeys import DAY_MIN
from scenarios.logistics_claims.world.places import DEPOT

CLAIM_COLUMNS = (
    "claim_id", "received", "claimant_id", "role", "shipment_id", "product", "type", "claimed_eur", "notice_date",
    "pieces_affected", "evidence", "text",
)  # fmt: skip
SHIPMENT_COLUMNS = (
    "shipment_id", "customer_id", "depot", "product", "pieces", "weight_kg", "carriage_eur", "pickup_flag", "due_on",
    "delivered_on", "origin", "destination",
)  # fmt: skip
SCAN_HEADER = "shipment|ts|place|event|carrier|note"
POD_COLUMNS = ("shipment_id", "code", "signed_by", "remark")
UPDATE_COLUMNS = ("claim_id", "arrived", "document", "note")
ANSWER_COLUMNS = ("claim_id", "decision", "amount", "by", "decided_on")


def claims_csv(filed: Iterable[Filed]) -> bytes:
    return csv_bytes(CLAIM_COLUMNS, map(claim_row, filed))


def claim_row(filed: Filed) -> tuple[object, ...]:
    claim = filed.claim
    return (
        filed.id, claim.received, claim.claimant, claim.role, claim.typed_id, claim.shipment.product, claim.kind,
        f"{claim.claimed:.2f}", claim.noticed, claim.affected, claim.evidence, claim.text,
    )  # fmt: skip


def shipments_csv(shipments: Iterable[Shipment]) -> bytes:
    return csv_bytes(SHIPMENT_COLUMNS, map(_shipment_row, shipments))


def _shipment_row(one: Shipment) -> tuple[object, ...]:
    return (
        one.id, one.customer, one.depot, one.product, one.pieces, one.weight_shown, f"{one.carriage:.2f}", one.flag,
        one.due, one.delivered, one.depot, one.destination,
    )  # fmt: skip


def pod_csv(shipments: Iterable[Shipment]) -> bytes:
    rows = ((one.id, one.receipt.code, one.receipt.signed_by, one.receipt.remark) for one in shipments if one.receipt)
    return csv_bytes(POD_COLUMNS, rows)


def scans_txt(lines: Iterable[str]) -> bytes:
    return "\n".join([SCAN_HEADER, *lines, ""]).encode()


def scan_lines(shipment: Shipment, *, late: bool | None = False) -> Iterator[str]:
    """Lines of a shipment, not in the order of time: those that came late, those that did not, or (None) all."""
    chosen = [scan for scan in shipment.scans if late is None or bool(scan.late) is late]
    turn = int(shipment.id[-3:]) % len(chosen) if chosen else 0
    for scan in chosen[turn:] + chosen[:turn]:
        yield scan_line(shipment.id, scan)


def scan_line(shipment: str, scan: Scan) -> str:
    """The scanner prints its depot's own time."""
    day, minute = divmod(scan.at + 60 * DEPOT[scan.place].offset_h, DAY_MIN)
    stamp = datetime.fromordinal(day) + timedelta(minutes=minute)
    return f"{shipment}|{stamp:%Y-%m-%dT%H:%M}|{scan.place}|{scan.event}|{scan.carrier}|{scan.note}"
