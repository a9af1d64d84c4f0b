"""Writes what the workspace shows: claims and how they were decided, shipments, scans, receipts, and the desk's tables."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from scenarios.kit.world import BuildResult, Streams, TaskView
from scenarios.logistics_claims.world import history, places, tables
from scenarios.logistics_claims.world.claims import Filed, Shipment
from scenarios.logistics_claims.world.history import History, Letter
from scenarios.logistics_claims.world.terms import NEW_SCANNERS, Terms

TODAY = date(2026, 9, 7)
RECENT = date(2026, 7, 6)  #: examples that people are shown have happened since


def build(task: TaskView, streams: Streams, out: Path) -> BuildResult:
    """Write ``out/data`` and the generated part of ``out/system``; the rest of ``system`` is there already."""
    past = history.history(task, streams)
    written = history.letters(past, streams)
    shipments = list({one.claim.shipment.id: one.claim.shipment for one in past.filed}.values())
    lines = [line for shipment in shipments for line in tables.scan_lines(shipment, late=None)]
    data = {
        "claims.csv": tables.claims_csv(past.filed),
        "decisions.csv": history.decisions_csv(past, streams),
        "shipments.csv": tables.shipments_csv(shipments),
        "scans.txt": tables.scans_txt(lines),
        "pod.csv": tables.pod_csv(shipments),
        "customers.csv": places.customers_csv(places.customers(streams)),
        "hauliers.csv": places.hauliers_csv(),
        "recourse.csv": history.letters_csv(written, past.terms),
        "sdr.csv": places.Rates(streams).table(TODAY),
    }
    kept = {
        "depots.csv": places.depots_csv(past.terms.live_from),
        "depot_weights.csv": places.depot_weights_csv(),
        "holidays.csv": places.holidays_csv(),
    }
    for folder, files in ((out / "data", data), (out / "system" / "data", kept)):
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
    return _result(past, shipments, written)


def _result(past: History, shipments: Sequence[Shipment], written: Sequence[Letter]) -> BuildResult:
    new_depots = {one.code for one in places.DEPOTS if one.new_system}
    hauled = [one for one in past.filed if one.claim.shipment.haulier]
    on_new = [one for one in shipments if one.depot in new_depots and one.picked_up >= past.terms.live_from]
    return BuildResult(
        facts=_examples(past.filed, on_new, past.terms),
        records={
            "claim": [one.id for one in past.filed],
            "shipment": [one.id for one in shipments],
            "letter": [one.id for one in written],
        },
        record_groups={
            "with_r": {"shipment": [one.id for one in shipments if one.receipt and one.receipt.code == "R"]},
            "hauled": {
                "shipment": sorted({one.claim.shipment.id for one in hauled}),
                "claim": [one.id for one in hauled],
                "letter": [one.id for one in written],
            },
            "new_warehouse": {"shipment": [one.id for one in on_new]},
        },
    )


def _examples(filed: Sequence[Filed], on_new: Sequence[Shipment], terms: Terms) -> dict[str, str]:
    """Shipments that texts and conversations name, the latest of their kind."""
    damages = [one.claim for one in reversed(filed) if one.claim.kind == "damage" and one.claim.threshold is None]
    crushed = next(
        claim.shipment
        for claim in damages
        if claim.shipment.receipt is not None
        and claim.shipment.receipt.code == "R"
        and "crushed" in claim.shipment.receipt.remark
        and claim.shipment.base_day >= NEW_SCANNERS
    )
    chargeable = next(
        claim.shipment for claim in damages if claim.letter_until is not None and claim.shipment.base_day >= RECENT
    )
    heavy = next(one for one in reversed(on_new) if _heavy(one) and one.picked_up >= RECENT)
    return {"ex_r": crushed.id, "ex_haulier": chargeable.id, "ex_heavy": heavy.id}


def _heavy(one: Shipment) -> bool:
    return bool(one.weight_shown) and float(one.weight_shown) > 2 * places.average_kg(one.depot, one.product)
