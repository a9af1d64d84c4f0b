"""Deliveries by luck: what the grade gives to somebody who decides by coins whom to ring."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from numpy.random import Generator

from scenarios.kit.world import Outcome, Streams, TaskView
from scenarios.oncall_incident.grader.replay import Observed, settle
from scenarios.oncall_incident.world.clock import DAY, is_night
from scenarios.oncall_incident.world.gateway import Ring
from scenarios.oncall_incident.world.organisation import TEAM_SITE
from scenarios.oncall_incident.world.production import Production
from scenarios.oncall_incident.world.truth import Truth

#: a task's streams and facts go together, and all draws of a task come with the same streams
_TRUTHS: WeakKeyDictionary[Streams, Truth] = WeakKeyDictionary()


def random_delivery(task: TaskView, streams: Streams, rng: Generator) -> Outcome:
    """One delivery drawn day by day and service by service: which of the teams that its tickets or the catalogue name
    carries it, and which of the team's people are rung, two of six. It keeps the night policy."""
    if streams not in _TRUTHS:
        _TRUTHS[streams] = Truth(task, streams)
    production = Production(task, streams, truth=_TRUTHS[streams])
    guess = _Guess(production.truth, rng)
    observed = Observed()
    for asof in production.calls:
        observed.played += production.react(asof, guess)
    return settle(production, observed)


class _Guess:
    """A table of guesses; what was guessed for a day stays for the day."""

    def __init__(self, truth: Truth, rng: Generator) -> None:
        self._truth, self._rng = truth, rng
        self._service = {one: service for service in truth.fleet for one in (service.id, service.old_id) if one}
        self._named = {service.rank: [service.owner] for service in truth.fleet}
        for ticket in truth.tickets:
            self._named[ticket.service].append(ticket.to_team)
        self._team: dict[tuple[int, int], str] = {}
        self._pair: dict[tuple[str, int], tuple[str, str]] = {}

    def rings(self, service_id: str, severity: int, at: int) -> list[Ring]:
        service, day = self._service[service_id], at // DAY
        if (service.rank, day) not in self._team:
            named = self._named[service.rank]
            self._team[service.rank, day] = named[int(self._rng.integers(len(named)))]
        team = self._team[service.rank, day]
        if severity == 3 and not service.clinical and is_night(TEAM_SITE[team], at):
            return []
        if (team, day) not in self._pair:
            people = self._truth.roster.members(team, at)
            first, second = (people[int(index)].id for index in self._rng.permutation(len(people))[:2])
            self._pair[team, day] = (first, second)
        first, second = self._pair[team, day]
        return [Ring(1, first, 0), Ring(2, second, 10)]
