"""Corvane's custodians: what the workspace shows, what production brings, and the truth behind both."""

from scenarios.fund_recon.world.build import build
from scenarios.fund_recon.world.production import Production

__all__ = ["Production", "build"]
