"""Errors a person can meet. Each carries words for them: what happened, what is kept, what to do."""

from __future__ import annotations


class FdegymError(Exception):
    """Base of every error that is shown to a person or printed by a command.

    ``str(error)`` is a complete sentence in plain words. ``http_status`` is used where the error reaches a page.
    """

    http_status = 400


class RunNotFound(FdegymError):
    """No such run for this person: raised as 404 so that existence is not revealed."""

    http_status = 404


class RunStateConflict(FdegymError):
    """The run is not in a state that allows the act (already submitted, still being prepared …)."""

    http_status = 409


class ServiceUnavailable(FdegymError):
    """One of our own processes does not answer. Nothing is lost; the act may be tried again."""

    http_status = 503
