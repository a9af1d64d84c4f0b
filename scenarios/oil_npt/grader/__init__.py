"""Replays eleven months of production and holds the claims against what the contract gives."""

from scenarios.oil_npt.grader.replay import replay

__all__ = ["replay"]
