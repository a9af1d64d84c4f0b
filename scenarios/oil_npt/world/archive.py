"""The reports of all rigs, found by id or by the time they tell of, with the revision that counts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from datetime import datetime

from scenarios.oil_npt.world.quarters import QUARTERS_A_DAY, moment
from scenarios.oil_npt.world.reports import Report


class Archive:
    """``binding`` is the task's rule: ``last_joint`` or ``first``."""

    def __init__(self, reports: Iterable[Report], binding: str) -> None:
        self._binding = binding
        self._by_id = {report.report_id: report for report in reports}
        self._by_rig: dict[str, list[tuple[datetime, datetime, str]]] = {}
        for report in sorted(self._by_id.values(), key=lambda one: one.begin):
            covers = (moment(report.begin), moment(report.begin + QUARTERS_A_DAY), report.report_id)
            self._by_rig.setdefault(report.rig, []).append(covers)

    def ids(self) -> list[str]:
        return sorted(self._by_id)

    def binding_rev(self, report_id: str) -> int:
        """The revision of a report that counts; 0 for a report that never was."""
        report = self._by_id.get(report_id)
        return 0 if report is None else report.binding_rev(self._binding)

    def revisions(self, report_id: str) -> list[tuple[int, bool]]:
        """(revision, signed by both) of every issue of a report, in order."""
        report = self._by_id.get(report_id)
        return [] if report is None else [(issue.rev, issue.signed_by_both) for issue in report.issues]

    def report_ids(self, rig: str, start: datetime, end: datetime) -> list[str]:
        """The reports, as printed, that tell of ``rig`` between two field times, in order.

        A report covers the field day of its date, or the UTC day where the rig's tool writes UTC.
        """
        covers = self._by_rig.get(rig, [])
        index = max(0, bisect_right(covers, start, key=lambda one: one[0]) - 1)
        found: list[str] = []
        while index < len(covers) and covers[index][0] < end:
            if covers[index][1] > start:
                found.append(covers[index][2])
            index += 1
        return found
