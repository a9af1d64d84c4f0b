"""The event feed: what happened, line by line, and how it was delivered."""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

from numpy.random import Generator

from scenarios.oncall_incident.world.clock import DAY, HELD_OUT, HOUR, VISIBLE, stamp
from scenarios.oncall_incident.world.gateway import Page
from scenarios.oncall_incident.world.organisation import SERVICES, TEAMS, Service
from scenarios.oncall_incident.world.roster import Roster, Swap, swap_fields
from scenarios.oncall_incident.world.tickets import Carriers, Ticket

DEPLOYS_A_DAY = 140
CARRIER_SHIPS_PCT = 62
DUPLICATES_PCT, LATE_PCT = 6, 3
_EDITS = 80
_EDITED = ("description", "runbook", "channel", "dashboard")

Event = tuple[int, str, dict[str, Any]]  #: (instant, type, what the type says)
Delivery = tuple[int, int, Event]  #: (minute of delivery, number of the event, the event)

FIRST_EVENT = 300_001


class Feed:
    """Deliveries in order; ``lines(first, last)`` are those of a span, in the order in which the feed writes them."""

    def __init__(self, deliveries: Iterable[Delivery], rng: Generator) -> None:
        self._deliveries = sorted(deliveries, key=lambda one: one[:2])
        self._at = [at for at, _, _ in self._deliveries]
        self._place = rng.permutation(len(self._at)).tolist()

    def lines(self, first: int, last: int, kind: str = "") -> list[str]:
        """Delivered in [first, last), all or those of one type; within a file the order tells nothing."""
        span = range(bisect_left(self._at, first), bisect_left(self._at, last))
        found = (self._deliveries[index] for index in sorted(span, key=self._place.__getitem__))
        return [_line(f"EV-{FIRST_EVENT + number}", at, event) for at, number, event in found if kind in ("", event[1])]


def deliveries(events: Sequence[Event], rng: Generator) -> list[Delivery]:
    """Every event delivered within minutes, some hours late, some twice; what is older than the feed with its start."""
    count = len(events)
    order = sorted(range(count), key=lambda index: (events[index][0], events[index][1], index))
    delay = rng.integers(1, 4, size=count).tolist()
    dirty = rng.permutation(count).tolist()
    late, twice = count * LATE_PCT // 100, count * DUPLICATES_PCT // 100
    hours_late = rng.integers(3 * HOUR, 9 * HOUR, size=count).tolist()
    again = rng.integers(1, 4 * DAY, size=count).tolist()
    made = []
    for number, index in enumerate(order):
        ts = events[index][0]
        at = max(ts + (hours_late[index] if dirty[index] < late else delay[index]), VISIBLE[0] + 5)
        made.append((at, number, events[index]))
        if dirty[index] % 2 and dirty[index] < 2 * twice:
            later = at + (again[index] if again[index] % 3 else again[index] % 40)
            made.append((later, number, events[index]))
    return made


def _line(event_id: str, delivered: int, event: Event) -> str:
    ts, kind, body = event
    head = {"event_id": event_id, "type": kind, "ts": stamp(ts), "delivered": stamp(delivered)}
    return json.dumps({**head, **body})


def happened(
    fleet: Sequence[Service], tickets: Sequence[Ticket], roster: Roster, carriers: Carriers, rng: Generator
) -> list[Event]:
    """Tickets, swaps, deploys and catalogue edits of the whole time; they depend on nothing that is delivered."""
    events = _of_tickets(tickets, fleet)
    for swap in roster.swaps:
        events += _of_swap(swap)
    events += _edits(fleet, rng)
    events += _deploys(fleet, tickets, roster, carriers, rng)
    return [event for event in events if event[0] < HELD_OUT[1]]


def _of_tickets(tickets: Sequence[Ticket], fleet: Sequence[Service]) -> list[Event]:
    events: list[Event] = []
    for ticket in tickets:
        for at, status in ticket.states:
            body = {
                "ticket": ticket.number,
                "service_id": fleet[ticket.service].id_at(at),
                "from_team": ticket.from_team,
                "to_team": ticket.to_team,
                "scope": ticket.scope,
                "status": status,
            }
            events.append((at, "handover", body))
    return events


def _of_swap(swap: Swap) -> list[Event]:
    events: list[Event] = [(swap.created, "override", swap_fields(swap, "create"))]
    if swap.cancelled_at:
        events.append((swap.cancelled_at, "override", swap_fields(swap, "cancel")))
    return events


def _edits(fleet: Sequence[Service], rng: Generator) -> list[Event]:
    events: list[Event] = []
    for index in range(_EDITS):
        span = HELD_OUT[1] // _EDITS
        at = index * span + int(rng.integers(span))
        service = fleet[int(rng.integers(SERVICES))]
        events.append((at, "catalog_edit", _edit(service.id_at(at), _EDITED[index % len(_EDITED)], "", "")))
    for service in fleet:
        if service.old_id:
            body = _edit(service.old_id, "service_id", service.old_id, service.id)
            events.append((service.renamed_at, "catalog_edit", body))
    return events


def _edit(service_id: str, field: str, old: str, new: str) -> dict[str, str]:
    return {"service_id": service_id, "field": field, "old": old, "new": new}


def _deploys(
    fleet: Sequence[Service], tickets: Sequence[Ticket], roster: Roster, carriers: Carriers, rng: Generator
) -> list[Event]:
    """Most services are shipped by who carries them; the others by the new owner of the code, or by one other team."""
    own = set(rng.permutation(SERVICES)[: SERVICES * CARRIER_SHIPS_PCT // 100].tolist())
    others = rng.integers(len(TEAMS), size=SERVICES).tolist()
    code: dict[int, list[tuple[int, str]]] = {}
    for ticket in tickets:
        if ticket.scope == "code" and ticket.accepted_at is not None:
            code.setdefault(ticket.service, []).append((ticket.accepted_at, ticket.to_team))
    days = HELD_OUT[1] // DAY
    shape = (days, DEPLOYS_A_DAY)
    services, minutes = rng.integers(SERVICES, size=shape).tolist(), rng.integers(DAY, size=shape).tolist()
    actors = rng.integers(6, size=shape).tolist()
    events: list[Event] = []
    for day in range(days):
        for rank, minute, actor in zip(services[day], minutes[day], actors[day], strict=True):
            at = day * DAY + minute
            team = carriers.at(rank, at) if rank in own else TEAMS[others[rank]]
            if rank not in own and rank in code:
                team = next((to for since, to in sorted(code[rank], reverse=True) if since <= at), team)
            person = roster.members(team, at)[actor].id
            events.append((at, "deploy", {"service_id": fleet[rank].id_at(at), "actor": person, "team": team}))
    return events


# ---- pages ----

CALL_COLUMNS = (
    "page_id", "ts_utc", "service_id", "severity", "level", "person_id", "answered_min", "outcome",
)  # fmt: skip


def page_id(number: int) -> str:
    return f"PG-{216_001 + number}"


def call_fields(number: int, page: Page, service_id: str, severity: int) -> dict[str, Any]:
    """A page as its event tells of it."""
    return {
        "page_id": page_id(number),
        "service_id": service_id,
        "severity": severity,
        "level": page.level,
        "person_id": page.person,
        "answered_min": page.answered_min,
        "outcome": page.outcome,
    }


def call_line(number: int, page: Page, service_id: str, severity: int, delivered: int) -> str:
    fields = call_fields(number, page, service_id, severity)
    return _line(f"EC-{216_001 + number}", delivered, (page.at, "call", fields))
