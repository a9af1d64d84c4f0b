"""The week of a trial: 28 September to 4 October 2026, with its own alerts; nothing of the weeks that are measured."""

from __future__ import annotations

from scenarios.kit.world import Streams, TaskView
from scenarios.oncall_incident.world.alerts import alerts
from scenarios.oncall_incident.world.clock import SHADOW
from scenarios.oncall_incident.world.production import Production


def shadow(task: TaskView, streams: Streams) -> Production:
    """56 calls of that week."""
    of_the_trial = alerts(SHADOW, streams.rng("alerts: trial"))
    return Production(task, streams, until=SHADOW[1], alerts=of_the_trial)
