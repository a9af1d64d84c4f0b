"""What production brings morning by morning, and the truth that only the grader sees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from typing import Any

from scenarios.kit.world import Streams, TaskView
from scenarios.oil_npt.world import periods
from scenarios.oil_npt.world.archive import Archive
from scenarios.oil_npt.world.feed import deliveries, drops, file_name
from scenarios.oil_npt.world.fleet import CONTACTS, Contact, tags_of
from scenarios.oil_npt.world.hires import Hires
from scenarios.oil_npt.world.master_data import register_csv, rental_orders_csv
from scenarios.oil_npt.world.quarters import months_between
from scenarios.oil_npt.world.questions import QUESTIONS
from scenarios.oil_npt.world.stoppages import RIGS, Stoppage

FIRST_GRADED = date(2026, 11, 1)
ASKING_WEEKDAYS = (0, 2, 4)
MONDAY = 0


class Production:
    """Report dates 1 October 2026 to 31 August 2027, dropped on the mornings of 2 October to 7 September.

    Open loop: nothing that a delivered system writes changes what the rigs do.
    """

    def __init__(self, task: TaskView, streams: Streams) -> None:
        self.facts: Mapping[str, Any] = task.facts
        self._streams = streams
        self._hires = Hires(streams, task.facts)
        before = periods.history(streams, task.facts, self._hires)
        period = periods.production(streams, task.facts, self._hires, before)
        self._arrivals = [
            *(
                one
                for one in deliveries(before.reports, periods.HISTORY[1])
                if one.morning > periods.LAST_SHOWN_MORNING
            ),
            *deliveries(period.reports, periods.HISTORY[1]),
        ]
        self._archive = Archive([*before.reports, *period.reports], str(task.facts["binding"]))
        self.stoppages: list[Stoppage] = period.stoppages()
        self.earlier_stoppages: list[Stoppage] = [
            stop for stop in before.stoppages() if stop.versions[0].segments[-1].end.date() >= date(2026, 9, 1)
        ]
        first, last = periods.PRODUCTION
        self.report_dates: list[date] = [first + timedelta(days=offset) for offset in range((last - first).days + 1)]
        self.graded_months: list[date] = months_between(FIRST_GRADED, last)
        self.contacts: list[Contact] = list(CONTACTS)

    def drops(self) -> Iterator[tuple[date, dict[str, bytes]]]:
        """(morning, files of the drop) in order; the same bytes each time."""
        mornings = (periods.LAST_SHOWN_MORNING + timedelta(days=1), periods.LAST_MORNING)
        for morning, reports in drops(self._arrivals, self._streams.rng("heldout:dirt"), mornings):
            files = {file_name(morning): reports}
            if morning.weekday() == MONDAY:
                files["rental_orders.csv"] = rental_orders_csv(self._hires, morning)
                files["equipment_register.csv"] = register_csv(self._hires, self._streams, morning)
            yield morning, files

    def react(self, outputs: object) -> None:
        """Claims do not reach the rigs."""

    def questions(self) -> Iterator[tuple[date, str]]:
        """What is typed into the intranet page on the Mondays, Wednesdays and Fridays on which a digest goes out."""
        rng = self._streams.rng("heldout:questions")
        for day in (report_date + timedelta(days=1) for report_date in self.report_dates):
            if day.weekday() in ASKING_WEEKDAYS:
                text = QUESTIONS[int(rng.integers(len(QUESTIONS)))]
                yield day, text.format(rig=RIGS[int(rng.integers(len(RIGS)))], month=f"{day:%B}", day=day.isoformat())

    def binding_rev(self, report_id: str) -> int:
        """The revision of a report that counts under the task's facts; 0 for a report that never was."""
        return self._archive.binding_rev(report_id)

    def revisions(self, report_id: str) -> list[tuple[int, bool]]:
        """(revision, signed by both) of every issue of a report, in order."""
        return self._archive.revisions(report_id)

    def report_ids(self, rig: str, start: datetime, end: datetime) -> list[str]:
        """The reports, as printed, that tell of ``rig`` between two field times, in order."""
        return self._archive.report_ids(rig, start, end)

    def tags(self, rig: str) -> frozenset[str]:
        """Equipment tags that the rig has."""
        return frozenset(tags_of(rig))
