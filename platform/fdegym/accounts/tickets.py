"""One-time tickets for sockets: what proves, within 30 seconds, that our own page asked for this very connection."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from django.core.cache import cache

from fdegym.accounts.models import User
from fdegym.lib.errors import FdegymError, ServiceUnavailable

LIFETIME_S = 30


class TicketRefused(FdegymError):
    """The ticket is unknown, used, too old, or was made for something else. Ask the page for a new one."""

    http_status = 403


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a ticket is bound to.

    ``socket`` is the kind of socket, with the number where there are several ("feed", "terminal 1"). ``rights`` are those
    of the person when it was issued (``User.rights``). ``role`` is ``owner`` or ``observer``, as decided by who issued it.
    """

    socket: str
    run_id: str
    user_id: str
    session_key: str
    rights: str
    role: str = "owner"


@contextmanager
def _words_when_the_cache_is_away() -> Iterator[None]:
    try:
        yield
    except TicketRefused:
        raise
    except Exception as away:
        raise ServiceUnavailable(
            "Nothing can be connected just now; what is open goes on. Try again in a moment."
        ) from away


def issue_ticket(*, socket: str, run_id: Any, user: User, session_key: str, role: str = "owner") -> str:
    """Make a ticket for one connection. The caller has checked that this person may see the run.

    Raises ``ServiceUnavailable`` while the cache is away.
    """
    if role not in ("owner", "observer"):
        raise ValueError(f"A socket has no role {role!r}.")
    value = secrets.token_urlsafe(32)
    ticket = Ticket(socket, str(run_id), str(user.pk), session_key, user.rights, role)
    with _words_when_the_cache_is_away():
        cache.set(f"ticket:{value}", asdict(ticket), LIFETIME_S)
    return value


def redeem_ticket(value: str, *, socket: str, run_id: Any, user: User, session_key: str) -> Ticket:
    """Use a ticket up. Raises ``TicketRefused``; a ticket shown for the wrong thing is used up as well.

    Raises ``ServiceUnavailable`` while the cache is away.
    """
    if not value or len(value) > 100:
        raise TicketRefused("This needs a fresh ticket.")
    key = f"ticket:{value}"
    with _words_when_the_cache_is_away():
        facts = cache.get(key)
        # add() is atomic in every shared cache: of two redemptions at once, in whatever process, one wins
        if facts is None or not cache.add(f"{key}:used", 1, LIFETIME_S * 2):
            raise TicketRefused("This ticket was used or is too old.")
        cache.delete(key)
    ticket = Ticket(**facts)
    shown_for = (socket, str(run_id), str(user.pk), session_key)
    if (ticket.socket, ticket.run_id, ticket.user_id, ticket.session_key) != shown_for:
        raise TicketRefused("This ticket was made for something else.")
    return ticket
