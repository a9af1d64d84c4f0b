"""What our processes write to their logs: one place, one shape, as lines to read or as JSON (``FDEGYM_LOG``).

A line says when, how grave, by which logger and process, and of which run, submission and person it is: these are bound
where work comes in (a request, a socket, a task, a message) and go with it. It never says a secret, what somebody wrote,
or what a file holds: nobody hands such a thing to a logger, and the secrets that a process was given are taken out here
whoever does.
"""

from __future__ import annotations

import contextlib
import logging
import logging.config
import sys
import traceback
from collections.abc import Callable, Iterator, MutableMapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import structlog

from fdegym.lib.counts import ERRORS

STYLES = ("lines", "json")
REMOVED = "[removed]"
SHORTEST_SECRET = 6  #: a shorter one would be found in ordinary words
LONGEST_TEXT = 8_000  #: of one field
BOUND = ("run", "submission", "user")

_process = "command"
_secrets: list[str] = []


def name_process(name: str) -> None:
    """Say which of our processes this is: ``site``, ``desk``, ``gateway``, ``worker`` or ``keeper``; else a command."""
    global _process
    _process = name


def process_name() -> str:
    return _process


def hide(*secrets: str | None) -> None:
    """Never write these, whoever hands them to a logger."""
    for secret in secrets:
        if secret and len(secret) >= SHORTEST_SECRET and secret not in _secrets:
            _secrets.append(secret)
    _secrets.sort(key=len, reverse=True)  # a URL before the password in it


def without_secrets(text: str) -> str:
    for secret in _secrets:
        if secret in text:
            text = text.replace(secret, REMOVED)
    return text


# ---- of whom a line is -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def bound(**known: object) -> Iterator[None]:
    """Every line of the block is of this ``run``, ``submission`` or ``user``; what is None stays as it is."""
    with structlog.contextvars.bound_contextvars(**_as_text(known)):
        yield


def bind_anew(**known: object) -> None:
    """What comes next has nothing to do with what was before: a request in a thread that served another one."""
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(**_as_text(known))


def bind(**known: object) -> None:
    structlog.contextvars.bind_contextvars(**_as_text(known))


def _as_text(known: dict[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in known.items() if value is not None}


# ---- how it is written -----------------------------------------------------------------------------------------------

EventDict = MutableMapping[str, Any]


def _fields(logger: Any, method: str, event: EventDict) -> EventDict:
    """The one shape, in one order."""
    record: logging.LogRecord = event["_record"]
    row: dict[str, Any] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "event": _clean(str(event["event"])),
        "process": _process,
    }
    known = structlog.contextvars.get_contextvars()
    row |= {name: _clean(str(known[name])) for name in BOUND if name in known}
    kind, error, trace = event.get("exc_info") or (None, None, None)
    if kind is not None:
        row["error"] = {"kind": kind.__name__, "trace": _trace(kind, error, trace)}
    return row


def _trace(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> str:
    text = "".join(traceback.format_exception(kind, error, trace)).rstrip()
    # where it happened stands at the end
    return _clean(text if len(text) <= LONGEST_TEXT else f"… {text[-LONGEST_TEXT:]}")


def _clean(text: str) -> str:
    return without_secrets(text if len(text) <= LONGEST_TEXT + 2 else f"{text[:LONGEST_TEXT]} …")


class JsonFormatter(structlog.stdlib.ProcessorFormatter):
    """A line of JSON for each record, whoever made it: Django, Celery, uvicorn or we."""

    def __init__(self) -> None:
        render: Any = structlog.processors.JSONRenderer()
        super().__init__(processors=[_fields, render])


class LineFormatter(logging.Formatter):
    """For whoever looks at a terminal."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


class CountErrors(logging.Handler):
    """Counts what is grave, by where it was and what it was; not what it said."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else "said"
        ERRORS.add(logger=".".join(record.name.split(".")[:2]), kind=kind)


FORMATTERS: dict[str, Callable[[], logging.Formatter]] = {"lines": LineFormatter, "json": JsonFormatter}


def configuration(style: str) -> dict[str, Any]:
    """For ``logging.config.dictConfig``: Django's LOGGING, and the keeper's, which has no Django."""
    handed_up: dict[str, Any] = {"handlers": [], "propagate": True}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"chosen": {"()": FORMATTERS[style]}},
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "chosen"},
            "count": {"()": CountErrors},
        },
        "root": {"handlers": ["stderr", "count"], "level": "INFO"},
        "loggers": {
            "django.channels.server": {"level": "WARNING"},
            # they bring handlers of their own: a second shape in the same log
            "django": {**handed_up, "level": "INFO"},
            "django.server": handed_up,
            "uvicorn": {**handed_up, "level": "INFO"},
            "uvicorn.error": handed_up,
            # its line for each WebSocket would hold the ticket
            "uvicorn.access": {**handed_up, "level": "WARNING"},
        },
    }


def set_up(process: str, style: str) -> None:
    """For a process without Django."""
    name_process(process)
    logging.config.dictConfig(configuration(style))
    log_what_would_be_printed()


def log_what_would_be_printed() -> None:
    """Warnings of Python, and an error that nobody catches, are lines like all others and not text across many."""
    logging.captureWarnings(True)

    def log_it(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, Exception):
            logging.getLogger(__name__).critical("ended by an error", exc_info=(kind, error, trace))
        else:
            sys.__excepthook__(kind, error, trace)

    sys.excepthook = log_it
