"""What production brings call by call. A closed loop: the pages that the delivered tables cause come with the next feed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from scenarios.kit.world import Streams, TaskView
from scenarios.oncall_incident.world.alerts import Alert
from scenarios.oncall_incident.world.clock import (
    DAY,
    HELD_OUT,
    SHADOW,
    STEP,
    SWAPPED_IN,
    moment,
    transitions_csv,
)
from scenarios.oncall_incident.world.events import call_line
from scenarios.oncall_incident.world.gateway import Page, Played, Ring
from scenarios.oncall_incident.world.truth import Truth

THURSDAY = 3
ROTA_DAYS = 14
FIRST_PAGE = 4_400  #: pages of the visible weeks have lower numbers
PAGE_TWICE = 17  #: every so manyth page is delivered twice


class Table(Protocol):
    """The table in force: the rows that hold for an alert."""

    def rings(self, service_id: str, severity: int, at: int) -> list[Ring]: ...


class Production:
    """28 September 2026 to 24 January 2027: a week of warm-up and sixteen weeks that count, a call every three hours.

    ``feed`` and ``react`` are called in turn, once for each of ``calls``.
    """

    def __init__(
        self,
        task: TaskView,
        streams: Streams,
        *,
        truth: Truth | None = None,
        until: int = HELD_OUT[1],
        alerts: Sequence[Alert] | None = None,
    ) -> None:
        self.truth = truth or Truth(task, streams)
        self.facts = task.facts
        self.calls = list(range(SHADOW[0], until, STEP))
        self.alerts = self.truth.alerts if alerts is None else alerts
        self._gateway = self.truth.gateway()
        self._alerts: Iterator[Alert] = iter(self.alerts)
        self._next: Alert | None = next(self._alerts, None)
        self._pages: list[tuple[Page, Alert]] = []  # not delivered yet
        self._page_number = FIRST_PAGE
        self._again: list[str] = []

    @property
    def people(self) -> frozenset[str]:
        """Whom the gateway knows."""
        return frozenset(self.truth.roster.site_of)

    def service_id(self, rank: int, at: int) -> str:
        return self.truth.fleet[rank].id_at(at)

    def resting(self, person: str, at: int, known: int) -> bool:
        """Whether somebody in Lisbon must be left alone at an instant, by the night pages before ``known``."""
        return self._gateway.rest.resting(person, at, known)

    def feed(self, asof: int) -> dict[str, bytes]:
        """File name → content of the feed directory of a call."""
        lines = self.truth.feed.lines(asof - STEP, asof) + self._calls(asof)
        files = {"events.jsonl": "".join(f"{line}\n" for line in lines).encode()}
        if asof % DAY == 0:
            files["catalog.csv"] = self.truth.catalog_csv(asof)
            files["tz_transitions.csv"] = transitions_csv()
            if moment(asof).weekday() == THURSDAY:
                files["rota.csv"] = self.truth.roster.rota_csv(asof, asof + ROTA_DAYS * DAY)
            if self.truth.people_change_on(asof):
                files["people.csv"] = self.truth.people_csv(asof)
        return files

    def _calls(self, asof: int) -> list[str]:
        due = sorted((one for one in self._pages if one[0].at < asof), key=lambda one: one[0].at)
        self._pages = [one for one in self._pages if one[0].at >= asof]
        lines, self._again = self._again, []
        for page, alert in due:
            line = call_line(self._page_number, page, self.service_id(alert.service, alert.at), alert.severity, asof)
            lines.append(line)
            if self._page_number % PAGE_TWICE == 0:
                self._again.append(line)
            self._page_number += 1
        return lines

    def react(self, asof: int, table: Table) -> list[Played]:
        """Play the alerts of the three hours for which the table compiled at ``asof`` is in force."""
        played = []
        while self._next is not None and self._next.at < asof + STEP + SWAPPED_IN:
            alert = self._next
            rings = table.rings(self.service_id(alert.service, alert.at), alert.severity, alert.at)
            one = self._gateway.play(alert, rings, asof)
            self._pages += [(page, alert) for page in one.pages]
            played.append(one)
            self._next = next(self._alerts, None)
        return played
