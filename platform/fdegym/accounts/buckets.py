"""How often something may be done: buckets of tokens over the site's cache, one module for all of them.

A bucket of ``size`` tokens belongs to each person, address, or to all together. Doing the thing takes a token, which
comes back by itself after ``period_s`` seconds: so it can be done ``size`` times at once, and never more often within any
``period_s``. Signing out, restarting a process or asking another one changes nothing. While the cache is away nothing is
refused: the site goes on.
"""

from __future__ import annotations

import logging
import secrets
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache

from fdegym.lib.errors import FdegymError

logger = logging.getLogger(__name__)


class TooOften(FdegymError):
    """No token is left. The words say what may be done, how often, and that nothing was lost."""

    http_status = 429


@dataclass(frozen=True, slots=True)
class Token:
    """One that was taken. ``put_back`` for what did not come about."""

    key: str

    def put_back(self) -> None:
        if self.key:
            try:
                cache.delete(self.key)
            except Exception:  # whatever a cache raises that is away: the token comes back by itself
                logger.warning("a token was not put back", exc_info=True)


@dataclass(frozen=True, slots=True)
class Bucket:
    """``words`` is what those read who find it empty."""

    name: str
    size: int
    period_s: int
    words: str

    def take(self, whose: Any = "all") -> Token:
        """Take one of the tokens of ``whose``. Raises ``TooOften``."""
        keys = [f"bucket:{self.name}:{whose}:{number}" for number in range(self.size)]
        try:
            taken = cache.get_many(keys)
            free = [key for key in keys if key not in taken]
            while free:
                # somebody else may take the same one at this moment: add() gives it to one of us, the other tries the next
                key = free.pop(secrets.randbelow(len(free)))
                if cache.add(key, 1, self.period_s):
                    return Token(key)
        except Exception:
            logger.warning("%s is not limited while the cache is away", self.name, exc_info=True)
            return Token("")
        raise TooOften(self.words)


#: A class of two hundred sits behind one address, and everybody in it signs up and in within one lesson.
SIGN_UPS = Bucket(
    "sign-up", 300, 3600, "Many accounts were made from this address lately. Try again in an hour, or ask the operator."
)
#: Passwords guessed for one account after the other; for a single one, see ``guessing``.
FAILED_SIGN_INS = Bucket(
    "failed sign-in",
    120,
    600,
    "Signing in failed too often from this address. Nobody can sign in from it for up to ten minutes.",
)
PASSWORD_CHECKS = Bucket(
    "password check", 10, 600, "That was wrong too often. Nothing was changed. Try again in ten minutes."
)
#: Of all people together: more cannot be prepared at once anyway, and whoever is refused loses nothing.
RUN_STARTS = Bucket(
    "run start", 240, 60, "Very many runs are being begun at this moment. Nothing was begun; try again in a minute."
)
MESSAGES = Bucket("message", 60, 60, "That is more than 60 messages within a minute. This one was not sent.")
TICKETS = Bucket("ticket", 300, 60, "This is connected again and again. Wait a minute, then reload the page.")
EXPORTS = Bucket("export", 30, 600, "You have exported 30 times within ten minutes. Try again a little later.")
