"""The provider's key: read once, by the gateway's process alone, and out of sight of every other process."""

from __future__ import annotations

import ctypes
import os
from collections.abc import MutableMapping
from pathlib import Path

from fdegym.lib.errors import FdegymError

VARIABLE = "FDEGYM_GATEWAY_KEY"
FILE_VARIABLE = "FDEGYM_GATEWAY_KEY_FILE"
_PR_SET_DUMPABLE = 4
_LONGEST_KEY = 10_000


class KeyUnusable(FdegymError):
    """The key cannot be read, or cannot be sent in a header. The text never holds it."""


def without_key(environment: MutableMapping[str, str]) -> dict[str, str]:
    """An environment for any process but the gateway's: the key is not in it, nor where it lies."""
    return {name: value for name, value in environment.items() if name not in (VARIABLE, FILE_VARIABLE)}


def take_key(environment: MutableMapping[str, str] = os.environ) -> str:
    """The key, "" where none is set; taken out of the environment, so that no child of this process inherits it.

    Raises ``KeyUnusable``.
    """
    given, file = environment.pop(VARIABLE, ""), environment.pop(FILE_VARIABLE, "")
    if file:
        try:
            with Path(file).open("rb") as stream:
                given = stream.read(_LONGEST_KEY + 1).decode("ascii")
        except OSError as problem:
            raise KeyUnusable(f"{FILE_VARIABLE} cannot be read: {problem.strerror}.") from problem
        except UnicodeDecodeError as problem:
            raise KeyUnusable(f"What {FILE_VARIABLE} names holds no key: it is not plain text.") from problem
    key = given.strip()
    if len(key) > _LONGEST_KEY or not all("!" <= letter <= "~" for letter in key):
        raise KeyUnusable(f"What {FILE_VARIABLE if file else VARIABLE} gives is no key: it must be one word.")
    return key


def hide_this_process() -> None:
    """Nobody but root reads this process's memory, environment or core, not even another process of the same user."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0)
