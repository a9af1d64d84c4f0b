"""Replays October 2026 to May 2027 and holds the queries against what the desks take and what they are worth."""

from scenarios.fund_recon.grader.guesses import random_delivery
from scenarios.fund_recon.grader.replay import replay
from scenarios.fund_recon.grader.truth import oracle

__all__ = ["oracle", "random_delivery", "replay"]
