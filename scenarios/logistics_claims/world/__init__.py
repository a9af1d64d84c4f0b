"""Quillon Freight's claims: what the workspace shows, what production brings, and the truth behind both."""

from scenarios.logistics_claims.world.build import build
from scenarios.logistics_claims.world.history import shadow
from scenarios.logistics_claims.world.production import Production

__all__ = ["Production", "build", "shadow"]
