"""What a message may be before anybody at the customer hears it."""

from __future__ import annotations

import re
import unicodedata

from fdegym.lib.errors import FdegymError

MOST_CHARACTERS = 8_000

_BREAKS = re.compile(r"\r\n?|[\u2028\u2029\x0b\x0c\x85]")
_KEPT_JOINERS = "\u200c\u200d"  # some scripts and emoji need them


class MessageRefused(FdegymError):
    """A message that nobody will be given. Its text says why; nothing was sent, nothing changed."""

    http_status = 422


class MessageIdTaken(MessageRefused):
    """The client's id belongs to another message of this run."""

    http_status = 409


def clean(text: str) -> str:
    """The text as it is sent and kept: plain line breaks, without control, direction and other invisible characters.

    Raises ``MessageRefused`` for what is empty or longer than a page.
    """
    if len(text) > 4 * MOST_CHARACTERS:
        raise _too_long(len(text))
    plain = _BREAKS.sub("\n", text)
    kept = "".join(char if _is_visible(char) else "\ufffd" if _is_surrogate(char) else "" for char in plain)
    stripped = kept.strip()
    if not any(unicodedata.category(char)[0] in "LNPS" for char in stripped):
        raise MessageRefused("There is nothing in that message, so it was not sent.")
    # some single characters stand for eighteen, and it is those that the people read
    if (length := len(unicodedata.normalize("NFKC", stripped))) > MOST_CHARACTERS:
        raise _too_long(length)
    return stripped


def _too_long(length: int) -> MessageRefused:
    return MessageRefused(
        f"Please keep it to a page: that message has {length:,} characters, at most {MOST_CHARACTERS:,} can be sent. "
        "It was not sent."
    )


def _is_surrogate(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


def _is_visible(char: str) -> bool:
    return char in "\n\t" or char in _KEPT_JOINERS or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co")
