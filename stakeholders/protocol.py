"""The desk's language: one JSON object a line, a request and its answer.

Requests: ``{"op": "say", "id": …, "person": …, "text": …}``, ``{"op": "wait", "id": …, "until": …}``,
``{"op": "trial", "id": …}`` (asked again with the same id until the answer is the report),
``{"op": "who" | "inbox" | "history" | "ping"}``. On the site's socket each names its ``run`` as well, and
``{"op": "open" | "close", "run": …}`` has a run served at once instead of within a quarter of a second. On a run's own
socket the socket *is* the run: a ``run`` in the request is ignored.

Answers: ``{"ok": true, …}`` or ``{"ok": false, "error": <one of PROBLEMS>, "words": <a sentence for the person>}``.
"""

from __future__ import annotations

import json
from typing import Any

from fdegym.lib.errors import FdegymError, RunNotFound, RunStateConflict, ServiceUnavailable
from stakeholders.calendar import WaitRefused
from stakeholders.engine import PersonUnknown
from stakeholders.messages import MessageIdTaken, MessageRefused
from stakeholders.trials import TrialRefused

SOCKET_NAME = "desk.sock"  #: of a run, in its directory
SITE_SOCKET_NAME = "site.sock"
LONGEST_LINE = 256 * 1024  #: bytes of a request; a page of text needs a tenth of it
LONGEST_ANSWER = 64 * 1024 * 1024  #: bytes of an answer: a long history


class RequestMalformed(FdegymError):
    """A line that is no request of this protocol."""


PROBLEMS: dict[str, type[FdegymError]] = {
    "id_taken": MessageIdTaken,
    "refused": MessageRefused,
    "unknown_person": PersonUnknown,
    "wait_refused": WaitRefused,
    "trial_refused": TrialRefused,
    "not_open": RunStateConflict,
    "no_run": RunNotFound,
    "malformed": RequestMalformed,
    "unavailable": ServiceUnavailable,
}


def parse(line: bytes) -> dict[str, Any]:
    """A request; raises ``RequestMalformed``."""
    try:
        request = json.loads(line.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError) as error:
        raise RequestMalformed("That was not understood; nothing was sent.") from error
    if not isinstance(request, dict) or not isinstance(request.get("op"), str):
        raise RequestMalformed("That was not understood; nothing was sent.")
    return request


def text_of(request: dict[str, Any], key: str) -> str:
    value = request.get(key)
    if not isinstance(value, str):
        raise RequestMalformed(f"The request lacks {key!r}; nothing was sent.")
    return value


def encode(answer: dict[str, Any]) -> bytes:
    """A line: ASCII, so that no half surrogate or odd separator can break it."""
    return json.dumps(answer, separators=(",", ":")).encode() + b"\n"


def failure(problem: FdegymError) -> dict[str, Any]:
    error = next((name for name, kind in PROBLEMS.items() if isinstance(problem, kind)), "unavailable")
    return {"ok": False, "error": error, "words": str(problem)}


def raise_for(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer if it is one, else the problem it names, as the exception it was."""
    if answer.get("ok") is True:
        return answer
    kind = PROBLEMS.get(str(answer.get("error")), ServiceUnavailable)
    raise kind(str(answer.get("words") or "The desk did not say why."))
