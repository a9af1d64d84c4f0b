"""Replays half a year of claims and settles what the desk's decisions cost."""

from scenarios.logistics_claims.grader.guesses import random_delivery
from scenarios.logistics_claims.grader.replay import replay
from scenarios.logistics_claims.grader.trial import trial
from scenarios.logistics_claims.grader.truth import oracle

__all__ = ["oracle", "random_delivery", "replay", "trial"]
