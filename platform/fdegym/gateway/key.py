"""The provider's key: read once, by the gateway's process alone, and out of sight of every other process."""

from __future__ import annotations

import ctypes
import os
from collections.abc import MutableMapping

from fdegym.lib.errors import FdegymError
from fdegym.lib.secret_files import SecretFileProblem, secret

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
    try:
        # a deployment without a model has the file all the same, and nothing in it
        given = secret(environment, VARIABLE, may_be_empty=True)
    except SecretFileProblem as problem:
        raise KeyUnusable(str(problem)) from problem
    finally:
        file = environment.pop(FILE_VARIABLE, "")
        environment.pop(VARIABLE, None)
    key = given.strip()
    if len(key) > _LONGEST_KEY or not all("!" <= letter <= "~" for letter in key):
        raise KeyUnusable(f"What {FILE_VARIABLE if file else VARIABLE} gives is no key: it must be one word.")
    return key


def hide_this_process() -> None:
    """Nobody but root reads this process's memory, environment or core, not even another process of the same user."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0)
