"""Hand-over tickets: who proposed which service to whom, what became of it, and who carries a service when."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.random import Generator

from scenarios.oncall_incident.world.clock import DAY, HELD_OUT, HOUR, VISIBLE, from_stamp
from scenarios.oncall_incident.world.organisation import BLOCKS, SERVICES, TEAMS, Service

OPS = "ops"
RESYNCED_AT = from_stamp("2026-09-27T00:00Z")  #: the catalogue was set anew (where it is right)
REOPENED = 9
MISTAKEN = 3
_FIRST_NUMBER = 2031

#: (how many, from, until) of accepted tickets; each accepted in an equal slice of its span
_OPS_SPANS = (
    (24, HELD_OUT[0] - 180 * DAY, HELD_OUT[0] - 40 * DAY),
    (22, HELD_OUT[0] - 28 * DAY, HELD_OUT[0]),
    (112, *HELD_OUT),
)
_OTHER_SPANS = ((40, HELD_OUT[0] - 180 * DAY, HELD_OUT[0] - 14 * DAY), (52, *HELD_OUT))
_DROPPED = 75  #: proposed, then declined or withdrawn: three for every ten accepted


@dataclass(slots=True)
class Ticket:
    """``states``: (instant, status) in order."""

    service: int
    from_team: str
    to_team: str
    scope: str
    states: list[tuple[int, str]] = field(default_factory=list)
    number: str = ""

    @property
    def accepted_at(self) -> int | None:
        """The last acceptance, if it is the last word."""
        at, status = self.states[-1]
        return at if status == "accepted" else None


def tickets(fleet: Sequence[Service], rng: Generator) -> list[Ticket]:
    """All tickets from April 2026 to the end of the held-out period, numbered in the order of their proposal."""
    accepted = _accepted(rng)
    carrier = {service.rank: service.owner for service in fleet}
    found = []
    for at, service, scope in accepted:
        target = _other_team(carrier[service], rng)
        ticket = Ticket(service, carrier[service], target, scope)
        ticket.states = [(at - int(rng.integers(2 * DAY, 9 * DAY)), "proposed"), (at, "accepted")]
        if scope == OPS:
            carrier[service] = target
        found.append(ticket)
    _detours(found, rng)
    found += _dropped(fleet, rng)
    found.sort(key=lambda ticket: ticket.states[0])
    for index, ticket in enumerate(found):
        ticket.number = f"HO-{_FIRST_NUMBER + index}"
    return found


def _accepted(rng: Generator) -> list[tuple[int, int, str]]:
    made = []
    before, during = iter(_services_in_turn(rng)), iter(_services_in_turn(rng))
    for count, start, end in _OPS_SPANS:
        in_turn = during if start == HELD_OUT[0] else before
        made += [(at, next(in_turn), OPS) for at in _sliced(count, start, end, rng)]
    for count, start, end in _OTHER_SPANS:
        scopes = rng.permutation(count) % 2
        for index, at in enumerate(_sliced(count, start, end, rng)):
            made.append((at, int(rng.integers(SERVICES)), "code" if scopes[index] else "cost"))
    return sorted(made)


def _sliced(count: int, start: int, end: int, rng: Generator) -> list[int]:
    """One instant in each equal slice of a span."""
    edges = [start + (end - start) * index // count for index in range(count + 1)]
    return [int(rng.integers(low, high)) for low, high in itertools.pairwise(edges)]


def _services_in_turn(rng: Generator) -> list[int]:
    """All ranks, each once: every run of ten holds one service of each block of popularity."""
    size = SERVICES // BLOCKS
    within = [rng.permutation(size).tolist() for _ in range(BLOCKS)]
    return [int(block) * size + within[block][turn] for turn in range(size) for block in rng.permutation(BLOCKS)]


def _other_team(team: str, rng: Generator) -> str:
    others = [one for one in TEAMS if one != team]
    return others[int(rng.integers(len(others)))]


def _detours(accepted: list[Ticket], rng: Generator) -> None:
    """Some were declined first and opened again; a few were accepted, declined by mistake and accepted again."""
    chosen = [int(index) for index in rng.permutation(len(accepted))[:REOPENED]]
    for index in chosen:
        ticket = accepted[index]
        (proposed, _), (at, _) = ticket.states
        declined = proposed + (at - proposed) // 3
        again = proposed + (at - proposed) * 2 // 3
        ticket.states = [(proposed, "proposed"), (declined, "declined"), (again, "proposed"), (at, "accepted")]
    plain = [
        ticket
        for index, ticket in enumerate(accepted)
        if index not in chosen and ticket.scope == OPS and ticket.states[-1][0] >= HELD_OUT[0]
    ]
    for index in rng.permutation(len(plain))[:MISTAKEN]:
        ticket = plain[int(index)]
        (proposed, _), (at, _) = ticket.states
        gap = (at - proposed) // 3
        ticket.states = [(proposed, "proposed"), (at - gap, "accepted"), (at - gap // 2, "declined"), (at, "accepted")]


def _dropped(fleet: Sequence[Service], rng: Generator) -> list[Ticket]:
    found = []
    scopes = (OPS, OPS, "code", "cost")
    for index, proposed in enumerate(_sliced(_DROPPED, _OPS_SPANS[0][1], HELD_OUT[1] - 8 * DAY, rng)):
        service = fleet[int(rng.integers(SERVICES))]
        ticket = Ticket(service.rank, service.owner, _other_team(service.owner, rng), scopes[index % len(scopes)])
        end = "declined" if index % 3 else "withdrawn"
        ticket.states = [(proposed, "proposed"), (proposed + int(rng.integers(6 * HOUR, 8 * DAY)), end)]
        found.append(ticket)
    return found


class Carriers:
    """Who truly carries a service, to the minute, under a task's facts."""

    def __init__(self, fleet: Sequence[Service], all_tickets: Sequence[Ticket], facts: Mapping[str, Any]) -> None:
        wait = int(facts["warm_days"]) * DAY
        frozen_at = RESYNCED_AT if facts["ownership"] == "catalogue" else None
        spells: dict[int, list[tuple[int, int, int, str]]] = defaultdict(list)
        for ticket in all_tickets:
            if ticket.scope == OPS:
                ends = [at for at, _ in ticket.states[1:]] + [HELD_OUT[1] * 2]
                for (at, status), end in zip(ticket.states, ends, strict=True):
                    if status == "accepted" and at + wait < end:
                        spells[ticket.service].append((at + wait, end, at, ticket.to_team))
        self._since: list[list[int]] = []
        self._team: list[list[str]] = []
        for service in fleet:
            since, team = _timeline(service.owner, spells[service.rank])
            if frozen_at is not None:
                kept = bisect_right(since, frozen_at)
                since, team = since[:kept], team[:kept]
            self._since.append(since)
            self._team.append(team)

    def at(self, service: int, when: int) -> str:
        return self._team[service][bisect_right(self._since[service], when) - 1]

    def changes(self, service: int) -> list[tuple[int, str]]:
        """(instant from which, team), in order; the first is since ever."""
        return list(zip(self._since[service], self._team[service], strict=True))

    def catalogue(self, service: Service, when: int, *, right: bool) -> str:
        """The team that the catalogue names: January's, or the right one since it was set anew."""
        return self.at(service.rank, when) if right and when >= RESYNCED_AT else service.owner


def _timeline(owner: str, spells: Sequence[tuple[int, int, int, str]]) -> tuple[list[int], list[str]]:
    """At each edge, the team of the latest acceptance in effect, else the catalogue's."""
    since, team = [VISIBLE[0] - 1_000 * DAY], [owner]
    for edge in sorted({edge for start, end, _, _ in spells for edge in (start, end)}):
        running = [(accepted, to_team) for start, end, accepted, to_team in spells if start <= edge < end]
        holds = max(running)[1] if running else owner
        if holds != team[-1]:
            since.append(edge)
            team.append(holds)
    return since, team
