"""Replays seventeen weeks of compiles and holds whom they woke against who should have been."""

from scenarios.oncall_incident.grader.guesses import random_delivery
from scenarios.oncall_incident.grader.oracle import oracle
from scenarios.oncall_incident.grader.replay import replay
from scenarios.oncall_incident.grader.trial import trial

__all__ = ["oracle", "random_delivery", "replay", "trial"]
