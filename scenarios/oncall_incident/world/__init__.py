"""Lumenfold's services and on-call duty: what the workspace shows, what production brings, and the truth behind both."""

from scenarios.oncall_incident.world.build import build
from scenarios.oncall_incident.world.production import Production
from scenarios.oncall_incident.world.shadow import shadow

__all__ = ["Production", "build", "shadow"]
