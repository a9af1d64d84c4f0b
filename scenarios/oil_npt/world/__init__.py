"""Tessaly Basin Energy's rigs: what the workspace shows, what production brings, and the truth behind both."""

from scenarios.oil_npt.world.build import build
from scenarios.oil_npt.world.production import Production

__all__ = ["Production", "build"]
