"""Who may open a socket, and who may keep it: the same for every kind. The origin was checked before (``origins``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from fdegym.accounts.sessions import Standing, standings_of
from fdegym.accounts.tickets import TicketRefused, redeem_ticket
from fdegym.lib.errors import ServiceUnavailable
from fdegym.lib.together import Together

#: How often an open socket looks whether its person may keep it. What it finds is a second old at most.
CHECK_EVERY_S = 3.0

# close codes; docs/terminal-protocol.md says what a client does at each
TRY_AGAIN = 1012
SIGN_IN = 4401
NO_TICKET = 4403
ACCESS_CHANGED = 4410


_standing_of_open = Together(standings_of)


class SocketRefused(Exception):
    """The socket is to be closed with ``code``; ``str`` of it goes along as the reason."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who is at the other end of a socket, as admitted."""

    user_id: str
    session_key: str
    rights: str
    role: str

    def check(self) -> None:
        """Asked again while the socket is open, of all open sockets together.

        Raises ``SocketRefused`` when this person may not keep it.
        """
        self._allow(_standing_of_open((self.session_key, self.user_id)))

    def check_now(self) -> None:
        """As things stand at this moment, for a socket that opens. Raises ``SocketRefused``."""
        pair = (self.session_key, self.user_id)
        self._allow(standings_of([pair])[pair])

    def _allow(self, standing: Standing) -> None:
        if standing.problem:
            raise SocketRefused(SIGN_IN, standing.problem)
        if standing.rights != self.rights:
            raise SocketRefused(ACCESS_CHANGED, "what you may see here has changed; reload the page")


def query_of(scope: dict[str, Any]) -> dict[str, str]:
    """The parameters of a handshake; of several with one name the first."""
    found = parse_qs(scope.get("query_string", b"").decode("ascii", "replace"))
    return {name: values[0] for name, values in found.items()}


def admit(scope: dict[str, Any], *, socket: str, run_id: Any) -> Visitor:
    """The person of a handshake, by session cookie and ticket. Whether the run is theirs is asked by the consumer.

    Raises ``SocketRefused``.
    """
    user, session = scope.get("user"), scope.get("session")
    if user is None or not user.is_authenticated or session is None or not session.session_key:
        raise SocketRefused(SIGN_IN, "sign in")
    try:
        ticket = redeem_ticket(
            query_of(scope).get("ticket", ""),
            socket=socket,
            run_id=run_id,
            user=user,
            session_key=session.session_key,
        )
    except TicketRefused as refused:
        raise SocketRefused(NO_TICKET, str(refused)) from refused
    except ServiceUnavailable as away:
        raise SocketRefused(TRY_AGAIN, "try again in a moment") from away
    visitor = Visitor(ticket.user_id, ticket.session_key, ticket.rights, ticket.role)
    visitor.check_now()
    return visitor
