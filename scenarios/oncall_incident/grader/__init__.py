"""Replays seventeen weeks of compiles and holds whom they woke against who should have been."""

from scenarios.oncall_incident.grader.replay import replay

__all__ = ["replay"]
