"""Everything that is true at Lumenfold in a task: made once, read by the visible world, production and grader."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from scenarios.kit.tables import csv_bytes
from scenarios.kit.world import Streams, TaskView
from scenarios.oncall_incident.world.alerts import Alert, alerts
from scenarios.oncall_incident.world.clock import DAY, HELD_OUT, SHADOW, VISIBLE, moment
from scenarios.oncall_incident.world.events import Event, Feed, deliveries, happened
from scenarios.oncall_incident.world.gateway import Gateway
from scenarios.oncall_incident.world.organisation import TRANSFER_AT, people_csv, services
from scenarios.oncall_incident.world.roster import Roster
from scenarios.oncall_incident.world.tickets import RESYNCED_AT, Carriers, tickets

CATALOG_COLUMNS = ("service_id", "name", "owner_team", "tier", "source", "updated_at")
REVIEWED_ON = "2026-01-18"
ROTA_KNOWN_UNTIL = VISIBLE[1] + 10 * DAY  #: the last export before production, of Thursday 24 September


class Truth:
    """Services, hand-overs, rota, swaps and alerts of a task, from June 2026 to January 2027."""

    def __init__(self, task: TaskView, streams: Streams) -> None:
        self.facts: Mapping[str, Any] = task.facts
        self.catalogue_is_right = task.facts["ownership"] == "catalogue"
        self.fleet = services(streams.rng("services"))
        self.tickets = tickets(self.fleet, streams.rng("tickets"))
        self.carriers = Carriers(self.fleet, self.tickets, self.facts)
        self.roster = Roster(self.facts, streams.rng("roster"))
        self._edited_at = streams.rng("catalogue").integers(0, 50, size=len(self.fleet)).tolist()
        self._streams = streams

    def gateway(self) -> Gateway:
        return Gateway(self.fleet, self.carriers, self.roster, int(self.facts["rest_hours"]))

    @cached_property
    def history(self) -> list[Alert]:
        return alerts(VISIBLE, self._streams.rng("alerts: history"))

    @cached_property
    def alerts(self) -> list[Alert]:
        """Of the shadow week and of the held-out period."""
        shadow = alerts(SHADOW, self._streams.rng("alerts: shadow week"))
        return shadow + alerts(HELD_OUT, self._streams.rng("alerts: production"))

    @cached_property
    def events(self) -> list[Event]:
        return happened(self.fleet, self.tickets, self.roster, self.carriers, self._streams.rng("events"))

    @cached_property
    def feed(self) -> Feed:
        """The whole feed but its pages."""
        return Feed(deliveries(self.events, self._streams.rng("deliveries")), self._streams.rng("order of lines"))

    def catalog_csv(self, at: int) -> bytes:
        """The catalogue of the night before ``at``."""
        right = self.catalogue_is_right and at >= RESYNCED_AT
        day = f"{moment(at - 1):%Y-%m-%d}" if right else REVIEWED_ON
        source = "hr_sync" if right else "manual"
        rows = [
            (
                service.id_at(at),
                service.id_at(at).replace("-", " ").capitalize(),
                self.carriers.catalogue(service, at, right=self.catalogue_is_right),
                "clinical" if service.clinical else "standard",
                source,
                f"{day}T02:{self._edited_at[service.rank]:02}Z",
            )
            for service in self.fleet
        ]
        return csv_bytes(CATALOG_COLUMNS, sorted(rows))

    def people_csv(self, at: int) -> bytes:
        return people_csv(self.roster.teams_before if at < TRANSFER_AT - TRANSFER_AT % DAY else self.roster.teams_after)

    def people_change_on(self, day: int) -> bool:
        """Whether the list of people changes with the feed of midnight ``day``."""
        return day == TRANSFER_AT - TRANSFER_AT % DAY
