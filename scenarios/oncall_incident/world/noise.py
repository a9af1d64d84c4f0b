"""The counts of the VP office's noise report: pages by alert class, whatever went wrong with them taken for noise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scenarios.oncall_incident.world.clock import from_stamp
from scenarios.oncall_incident.world.history import History, NumberedPage

COUNTED_UNTIL = from_stamp("2026-09-21T00:00Z")
CLASSES_SHOWN = 10


def noise_counts(found: History) -> dict[str, Any]:
    """``all``, ``severities`` (by severity) and ``classes`` (those with most night pages): rows of name, pages, pages at
    night, per cent not engaged. A class is the function of the service, the last word of its name, and the severity."""
    counted = [one for one in found.pages if one.page.at < COUNTED_UNTIL]
    severities: dict[str, list[NumberedPage]] = {}
    classes: dict[str, list[NumberedPage]] = {}
    for one in counted:
        severity = one.alert.severity
        function = found.service_id(one.alert).rpartition("-")[2]
        severities.setdefault(f"severity {severity}", []).append(one)
        classes.setdefault(f"{function} / {severity}", []).append(one)
    ranked = sorted((_row(name, pages) for name, pages in classes.items()), key=lambda row: (-row[2], row[0]))
    return {
        "all": _row("all", counted),
        "severities": sorted(_row(name, pages) for name, pages in severities.items()),
        "classes": ranked[:CLASSES_SHOWN],
    }


def _row(name: str, pages: Sequence[NumberedPage]) -> tuple[str, int, int, int]:
    return name, len(pages), _count(one.page.night for one in pages), _unengaged_pct(pages)


def _unengaged_pct(pages: Sequence[NumberedPage]) -> int:
    return round(100 * _count(one.page.outcome != "engaged" for one in pages) / len(pages))


def _count(marks: Iterable[bool]) -> int:
    return sum(marks)
