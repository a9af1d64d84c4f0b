"""Tables that other departments keep: rental orders, maintenance's equipment register, aliases, contacts."""

from __future__ import annotations

from datetime import date, timedelta

from scenarios.kit.tables import csv_bytes
from scenarios.kit.world import Streams
from scenarios.oil_npt.world.fleet import CONTACTS, DESCRIPTIONS, alias_rows, tags_of
from scenarios.oil_npt.world.hires import Hires
from scenarios.oil_npt.world.stoppages import RIGS

REPLACED_SHOWN = 3  #: assets replaced before October 2026: they have two rows
REPLACED_LATER = 4
REPLACEABLE = ("GEN-1", "GEN-2", "GEN-3", "IR-1", "AIR-1", "PHM-1")


def rental_orders_csv(hires: Hires, day: date) -> bytes:
    """The orders as purchasing shows them on ``day``."""
    columns = ("order_no", "rig_id", "tag", "description", "vendor", "payer", "on_hire", "off_hire")
    rows = [
        (
            order.number, order.rig, order.tag, order.description, order.vendor, order.payer, order.on_hire.isoformat(),
            order.off_hire.isoformat() if order.off_hire else "",
        )
        for order in hires.known_on(day)
    ]  # fmt: skip
    return csv_bytes(columns, rows)


def register_csv(hires: Hires, streams: Streams, day: date) -> bytes:
    """Maintenance's asset list on ``day``. Rentals have not been entered since February 2026."""
    columns = ("rig_id", "tag", "description", "furnished_by", "from_date", "to_date")
    rows: list[tuple[str, ...]] = []
    replaced = _replacements(streams)
    rng = streams.rng("register")
    for rig in RIGS:
        for tag in tags_of(rig):
            installed = date(2023, 1, 10) + timedelta(days=int(rng.integers(0, 1_000)))
            furnished = "O" if hires.registered_as_operators(rig, tag) else "C"
            swap = replaced.get((rig, tag))
            ended = swap.isoformat() if swap is not None and swap <= day else ""
            rows.append((rig, tag, DESCRIPTIONS[tag], furnished, installed.isoformat(), ended))
            if swap is not None and swap <= day:
                begun = (swap + timedelta(days=1)).isoformat()
                rows.append((rig, tag, DESCRIPTIONS[tag], furnished, begun, ""))
    return csv_bytes(columns, rows)


def _replacements(streams: Streams) -> dict[tuple[str, str], date]:
    """Assets that are exchanged for another of the same party, with the last day of the old one."""
    rng = streams.rng("replacements")
    pairs = [(rig, tag) for rig in RIGS for tag in REPLACEABLE]
    chosen = [pairs[index] for index in rng.permutation(len(pairs))[: REPLACED_SHOWN + REPLACED_LATER]]
    shown = [date(2026, 1, 15) + timedelta(days=int(rng.integers(0, 240))) for _ in range(REPLACED_SHOWN)]
    later = [date(2026, 10, 20) + timedelta(days=int(rng.integers(0, 280))) for _ in range(REPLACED_LATER)]
    return dict(zip(chosen, shown + later, strict=True))


def alias_csv() -> bytes:
    return csv_bytes(("rig_id", "alias", "tag"), alias_rows())


def contacts_csv() -> bytes:
    return csv_bytes(("name", "role", "rig", "email"), [(one.name, one.role, one.rig, one.email) for one in CONTACTS])
