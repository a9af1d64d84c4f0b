"""One-time tickets for terminal sockets: what proves, within 30 seconds, that the page asked for this very terminal."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache

from fdegym.lib.errors import FdegymError, ServiceUnavailable

LIFETIME_S = 30


class TicketRefused(FdegymError):
    """The ticket is unknown, used, too old, or was made for something else. Ask the page for a new one."""

    http_status = 403


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a ticket is bound to. ``role`` is ``owner`` or ``observer`` and was decided by who issued it."""

    run_id: str
    terminal: int
    user_id: str
    session_key: str
    role: str = "owner"


@contextmanager
def _words_when_the_cache_is_away() -> Iterator[None]:
    try:
        yield
    except TicketRefused:
        raise
    except Exception as away:
        raise ServiceUnavailable(
            "A terminal cannot be opened just now; those that are open go on. Try again in a moment."
        ) from away


def issue_ticket(*, run_id: str, terminal: int, user_id: Any, session_key: str, role: str = "owner") -> str:
    """Make a ticket for one attach. The caller has checked that this person may see the run.

    Raises ``ServiceUnavailable`` while the cache is away.
    """
    if role not in ("owner", "observer"):
        raise ValueError(f"A terminal has no role {role!r}.")
    value = secrets.token_urlsafe(32)
    facts = {"run": str(run_id), "terminal": int(terminal), "user": str(user_id), "session": session_key, "role": role}
    with _words_when_the_cache_is_away():
        cache.set(f"terminal-ticket:{value}", facts, LIFETIME_S)
    return value


def redeem_ticket(value: str, *, run_id: str, terminal: int, user_id: Any, session_key: str) -> Ticket:
    """Use a ticket up. Raises ``TicketRefused``; a ticket shown for the wrong thing is used up as well.

    Raises ``ServiceUnavailable`` while the cache is away.
    """
    if not value or len(value) > 100:
        raise TicketRefused("The terminal needs a fresh ticket.")
    key = f"terminal-ticket:{value}"
    with _words_when_the_cache_is_away():
        facts = cache.get(key)
        # add() is atomic in every shared cache: of two redemptions at once, in whatever process, one wins
        if facts is None or not cache.add(f"{key}:used", 1, LIFETIME_S * 2):
            raise TicketRefused("This ticket was used or is too old.")
        cache.delete(key)
    expected = (str(run_id), int(terminal), str(user_id), session_key)
    if (facts["run"], facts["terminal"], facts["user"], facts["session"]) != expected:
        raise TicketRefused("This ticket was made for something else.")
    return Ticket(*expected, role=facts["role"])
