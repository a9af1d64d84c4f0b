"""What a process counts while it works: plain numbers in memory, cheap enough for every message and every start.

Who keeps them is not said here: ``fdegym.presence`` writes those of processes with a database, the keeper is asked for
its own. Labels come from small sets that the code knows, never from what somebody typed.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

#: (name, ((label, value), …)) → number
Key = tuple[str, tuple[tuple[str, str], ...]]
Totals = dict[Key, float]
SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
MINUTES = (1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0)


class _Kept:
    """The numbers of this process. A forked child begins at nothing: what was counted before is its parent's."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.lock = threading.Lock()
        self.totals: Totals = {}

    def add(self, amounts: Iterable[tuple[Key, float]]) -> None:
        with self.lock:
            for key, amount in amounts:
                self.totals[key] = self.totals.get(key, 0.0) + amount


_kept = _Kept()
os.register_at_fork(after_in_child=_kept.begin)


def totals() -> Totals:
    """What this process has counted so far."""
    with _kept.lock:
        return dict(_kept.totals)


@dataclass(frozen=True, slots=True)
class Counter:
    """Something that only grows."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()

    def add(self, amount: float = 1.0, **labels: str) -> None:
        _kept.add([((self.name, _in_order(self.labels, labels)), amount)])


@dataclass(frozen=True, slots=True)
class Durations:
    """How long something took, in seconds: how many took at most each of ``limits``, how many in all, and their sum."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()
    limits: tuple[float, ...] = SECONDS

    def add(self, seconds: float, **labels: str) -> None:
        ordered = _in_order(self.labels, labels)
        within = next((limit for limit in self.limits if seconds <= limit), float("inf"))
        _kept.add(
            [
                ((self.name, (*ordered, ("le", str(within)))), 1.0),
                ((f"{self.name}_sum", ordered), max(0.0, seconds)),
            ]
        )

    @contextlib.contextmanager
    def timing(self, **labels: str) -> Iterator[None]:
        """Counts the block however it ends."""
        begun = time.monotonic()
        try:
            yield
        finally:
            self.add(time.monotonic() - begun, **labels)


def _in_order(names: tuple[str, ...], labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, labels[name]) for name in names)


def as_rows(counted: Totals) -> list[list[object]]:
    """For JSON: ``[name, {label: value}, number]`` each."""
    return [[name, dict(labels), number] for (name, labels), number in sorted(counted.items())]


def from_rows(rows: object) -> Totals:
    """What ``as_rows`` wrote; what is no such row is left out: it may come from another release."""
    found: Totals = {}
    for row in rows if isinstance(rows, list) else []:
        match row:
            case [str(name), dict(labels), int() | float() as number]:
                key = (name, tuple((str(label), str(value)) for label, value in labels.items()))
                found[key] = found.get(key, 0.0) + number
    return found


def added(several: Iterable[Totals]) -> Totals:
    """All of them together."""
    together: Totals = {}
    for one in several:
        for key, number in one.items():
            together[key] = together.get(key, 0.0) + number
    return together


def since(now: Totals, before: Totals) -> Totals:
    """What came on top of ``before``."""
    return {key: number - before.get(key, 0.0) for key, number in now.items() if number != before.get(key, 0.0)}


# ---- everything that is counted ---------------------------------------------------------------------------------------

EVENTS = Counter("fdegym_run_events_total", "Events added to the logs of runs.", ("kind",))
MOVES = Counter("fdegym_run_moves_total", "Runs that came to a state.", ("state",))
CONTACTS = Counter(
    "fdegym_contacts_total", "Contacts with the customers' people: messages, waits, letters, trials.", ("kind",)
)
CHARGES = Counter("fdegym_contact_charges_total", "What contacts were charged, in units of the score.", ("kind",))
STARTS = Counter("fdegym_workspace_starts_total", "Workspaces that were to be started.", ("outcome",))
START_SECONDS = Durations("fdegym_workspace_start_seconds", "From asking for a workspace until it ran.", limits=MINUTES)
GRADES = Durations("fdegym_grading_seconds", "Attempts at grading a submission.", ("outcome",), MINUTES)
VOIDS = Counter("fdegym_void_submissions_total", "Submissions that could not be graded through our fault.", ("reason",))
TRIALS = Durations("fdegym_trial_seconds", "Attempts at running a trial.", ("outcome",), MINUTES)
DESK_SECONDS = Durations("fdegym_desk_reply_seconds", "From a request to the desk until its answer.", ("operation",))
GATEWAY_CALLS = Counter(
    "fdegym_gateway_calls_total", "Calls to the model gateway that were charged.", ("outcome", "of")
)
GATEWAY_TOKENS = Counter("fdegym_gateway_tokens_total", "Tokens that calls were charged.", ("of",))
GATEWAY_MONEY = Counter("fdegym_gateway_money_total", "Money that calls were charged.", ("currency", "of"))
REQUESTS = Durations("fdegym_request_seconds", "Requests to the site's pages.", ("page", "status"))
ERRORS = Counter("fdegym_errors_total", "Lines of the level error or above in the logs.", ("logger", "kind"))

DECLARED: tuple[Counter | Durations, ...] = (
    *(EVENTS, MOVES, CONTACTS, CHARGES, STARTS, START_SECONDS, GRADES, VOIDS, TRIALS),
    *(DESK_SECONDS, GATEWAY_CALLS, GATEWAY_TOKENS, GATEWAY_MONEY, REQUESTS, ERRORS),
)
