"""What can go wrong when a run begins or ends, in words for the person."""

from __future__ import annotations

from fdegym.lib.errors import FdegymError


class LevelUnknown(FdegymError):
    """There is no such level for this scenario."""


class RunUnprepared(FdegymError):
    """The workspace could not be made: our fault, the run does not count, it may be tried again."""

    http_status = 503


class DeliveryRefused(FdegymError):
    """The system cannot be taken as it is (too large, say); nothing was submitted."""

    http_status = 422


class RunsTooMany(FdegymError):
    """The person has begun so many runs lately that others would wait for them. Runs that are open stay as they are."""

    http_status = 429
