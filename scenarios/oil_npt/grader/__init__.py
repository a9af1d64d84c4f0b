"""Replays eleven months of production and holds the claims against what the contract gives."""

from scenarios.oil_npt.grader.guesses import random_delivery
from scenarios.oil_npt.grader.replay import replay
from scenarios.oil_npt.grader.truth import oracle

__all__ = ["oracle", "random_delivery", "replay"]
