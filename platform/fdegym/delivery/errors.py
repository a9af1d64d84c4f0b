"""What can go wrong when a run begins or ends, in words for the person."""

from __future__ import annotations

from fdegym.lib.errors import FdegymError


class LevelUnknown(FdegymError):
    """There is no such level for this scenario."""


class WorkspacesTooMany(FdegymError):
    """The person has as many workspaces open as one person may have; the words say which, and what helps."""

    http_status = 409


class RunsTooMany(FdegymError):
    """The person has begun so many runs lately that others would wait for them. Runs that are open stay as they are."""

    http_status = 429
